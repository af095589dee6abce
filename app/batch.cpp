#include "app/batch.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <glob.h>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "app/session.h"
#include "core/base/text.h"
#include "core/export/json.h"

namespace tg {
namespace {

bool has_glob(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> found;
  glob_t result{};
  if (glob(pattern.c_str(), GLOB_TILDE, nullptr, &result) == 0) {
    for (std::size_t i = 0; i < result.gl_pathc; ++i) found.emplace_back(result.gl_pathv[i]);
  }
  globfree(&result);
  return found;
}

FileOutcome run_one(Call& outer, const std::string& address, const FileJob& job) {
  Session session;
  CaptureSink notes;
  Call call{session, outer.command, notes, outer.stop, outer.paint, outer.note_paint, {}, {}};
  FileOutcome outcome;
  // One file must not end the batch, whatever a library throws.
  try {
    outcome = job(address, session, call);
  } catch (const std::bad_alloc&) {
    outcome = {ExitCode::NotEstablished, "not established", "out of memory", "", ""};
  } catch (const std::exception& error) {
    outcome = {ExitCode::Internal, "internal error", error.what(), "", ""};
  }
  outcome.notes = notes.all + outcome.notes;
  if (outcome.json.empty()) {
    Json failed;
    failed["schema"] = fmt::format("thunderglass.{}/1", outer.command.command->name);
    failed["file"] = address;
    failed["exit"] = static_cast<int>(outcome.exit);
    failed["error"] = outcome.line;
    outcome.json = dump(failed, -1);
  }
  return outcome;
}

}  // namespace

std::vector<std::string> expand_globs(const std::vector<std::string>& operands) {
  std::vector<std::string> files;
  for (const std::string& operand : operands) {
    std::vector<std::string> found;
    if (has_glob(operand)) {
      found = matches(operand);
      const std::size_t colon = operand.rfind(':');
      if (found.empty() && colon != std::string::npos && has_glob(operand.substr(0, colon))) {
        found = matches(operand.substr(0, colon));
        for (std::string& file : found) file += operand.substr(colon);
      }
    }
    if (found.empty()) found.push_back(operand);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

bool is_batch(const std::vector<std::string>& operands) {
  return operands.size() > 1 || (operands.size() == 1 && has_glob(operands.front()));
}

CommandResult run_batch(Call& call, const std::vector<std::string>& addresses, const FileJob& job) {
  std::vector<std::optional<FileOutcome>> outcomes(addresses.size());
  std::mutex mutex;
  std::condition_variable finished;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < addresses.size(); i = next++) {
      if (call.stop.stop_requested()) break;
      FileOutcome outcome = run_one(call, addresses[i], job);
      const std::lock_guard lock(mutex);
      outcomes[i] = std::move(outcome);
      finished.notify_one();
    }
    const std::lock_guard lock(mutex);
    finished.notify_one();
  };
  const std::size_t wanted = std::max<std::size_t>(1, call.command.count(Option::Jobs));
  constexpr std::size_t kMostWorkers = 256;
  std::vector<std::jthread> workers;
  for (std::size_t i = 0; i < std::min({wanted, addresses.size(), kMostWorkers}); ++i) {
    workers.emplace_back(work);
  }
  std::size_t width = 0;
  for (const std::string& address : addresses) width = std::max(width, display_width(address));
  ExitCode worst = ExitCode::Done;
  std::map<std::string, std::size_t> verdicts;
  std::vector<std::string> order;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    std::unique_lock lock(mutex);
    finished.wait(lock, [&] { return outcomes[i].has_value() || call.stop.stop_requested(); });
    if (!outcomes[i]) break;
    const FileOutcome outcome = std::move(*outcomes[i]);
    lock.unlock();
    worst = std::max(worst, outcome.exit);
    if (verdicts[outcome.verdict]++ == 0) order.push_back(outcome.verdict);
    if (call.json()) {
      call.result(outcome.json + "\n");
    } else {
      call.result(fmt::format("{:{}}  {}\n", addresses[i], width, outcome.line));
    }
    if (!outcome.notes.empty()) call.note(outcome.notes);
  }
  workers.clear();
  if (call.stop.stop_requested()) return ExitCode::Interrupted;
  if (call.json()) {
    Json summary;
    summary["schema"] = "thunderglass.summary/1";
    summary["files"] = addresses.size();
    for (const std::string& verdict : order) summary["verdicts"][verdict] = verdicts[verdict];
    summary["exit"] = static_cast<int>(worst);
    call.result(dump(summary, -1) + "\n");
  } else {
    std::string parts;
    for (const std::string& verdict : order) {
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", verdicts[verdict], verdict);
    }
    // FILE:0 and FILE:1 are two programs of one file.
    std::set<std::string_view> files;
    for (const std::string_view address : addresses) {
      const std::size_t folder = address.rfind('/');
      files.insert(
          address.substr(0, address.find(':', folder == std::string_view::npos ? 0 : folder)));
    }
    call.result(fmt::format("{}: {}\n",
                            files.size() == addresses.size()
                                ? count_of(addresses.size(), "file", "files")
                                : count_of(addresses.size(), "program", "programs"),
                            parts));
  }
  if (call.command.has(Option::ExitZero) && worst == ExitCode::Finding) worst = ExitCode::Done;
  return worst;
}

}  // namespace tg
