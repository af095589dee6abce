// Ctrl+C: cancels the running command, not the session. A second one within the same command ends
// the program.
#pragma once

#include <mutex>
#include <stop_token>
#include <thread>

namespace tg {

// Takes SIGINT away from every thread and waits for it in one of its own. At most one at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // A token for the command that starts now; Ctrl+C stops it.
  std::stop_token begin();
  // No command runs: Ctrl+C does nothing.
  void end();

 private:
  void wait(const std::stop_token& leave);

  std::mutex mutex_;
  std::stop_source running_;
  bool active_ = false;
  std::jthread thread_;
};

}  // namespace tg
