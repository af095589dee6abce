#include "app/interrupt.h"

#include <csignal>
#include <ctime>
#include <unistd.h>

#include "app/command.h"

namespace tg {
namespace {

sigset_t interrupt_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

Interrupts::Interrupts() {
  const sigset_t set = interrupt_set();
  // Before any other thread exists, so that all inherit it.
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::jthread([this](const std::stop_token& leave) { wait(leave); });
}

Interrupts::~Interrupts() {
  thread_.request_stop();
  // Wakes the waiting thread. Sent to the thread, not to the process: the shell must not see it.
  pthread_kill(thread_.native_handle(), SIGINT);
}

std::stop_token Interrupts::begin() {
  const std::lock_guard lock(mutex_);
  running_ = std::stop_source();
  active_ = true;
  return running_.get_token();
}

void Interrupts::end() {
  const std::lock_guard lock(mutex_);
  active_ = false;
}

void Interrupts::wait(const std::stop_token& leave) {
  const sigset_t set = interrupt_set();
  while (!leave.stop_requested()) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0 || leave.stop_requested()) continue;
    const std::lock_guard lock(mutex_);
    if (!active_) continue;
    // The command does not react (it may be reading a pipe): leave at once.
    if (running_.stop_requested()) _exit(static_cast<int>(ExitCode::Interrupted));
    running_.request_stop();
  }
}

}  // namespace tg
