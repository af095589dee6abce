#include "core/text/trace_parser.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/ir/program_source.h"
#include "core/text/cut_end.h"
#include "core/text/head_parser.h"
#include "core/text/line_reader.h"
#include "core/text/statement_parser.h"
#include "core/text/statement_printer.h"

namespace tg::text {
namespace {

// Sub-statements nest about 8 deep in recordings; deeper ones than this are attached to the
// deepest.
constexpr std::size_t kMaxStatementDepth = 200;

// One statement being read: its text and where it stands.
struct Logical {
  std::string_view text;
  Line line;
  std::size_t column = 0;         // of the text in the line
  std::size_t continuations = 0;  // further physical lines
};

class TraceParser {
 public:
  TraceParser(std::string_view text, const SourceMap& map, DiagnosticSink& sink)
      : text_(text), map_(map), lines_(text, map, sink) {}

  std::vector<Trace> run() {
    std::vector<Trace> traces;
    while (lines_.has_line()) {
      begin_trace();
      head();
      body();
      end_trace();
      traces.push_back(std::move(trace_));
    }
    return traces;
  }

 private:
  // ---- head
  void begin_trace() {
    trace_ = Trace{};
    trace_.has_def_line = false;
    open_.clear();
    pending_.clear();
    pending_line_.reset();
    group_ = {};
    unpack_ = nullptr;
    parameters_.clear();
    copies_.clear();
    own_.clear();
    returned_ = false;
    last_cut_reported_ = false;
    last_line_ = {};
  }

  void head() {
    const std::size_t begin = lines_.next().begin;
    const HeadEnd head = parse_head(lines_, trace_);
    content_end_ = head.end;
    group_.begin = head.any ? std::min(head.end + 1, text_.size()) : begin;
  }

  // ---- body
  void body() {
    base_known_ = false;
    trace_.body_indent = 2;
    while (lines_.has_line()) {
      const std::string_view line = lines_.peek();
      const std::size_t indent = indentation(line);
      if (indent == line.size() || trim(line).empty()) {
        lines_.take();
        continue;
      }
      if (indent == 0 &&
          (is_head_line(line) || (trace_.has_def_line && begins_bare_provenance(lines_))))
        return;
      if (!base_known_) {
        base_known_ = true;
        base_ = trace_.has_def_line && indent == 0 ? 2 : indent;
        trace_.body_indent = static_cast<std::uint32_t>(base_);
      }
      body_line(lines_.take(), indent);
    }
  }

  void body_line(const Line& line, std::size_t indent) {
    const std::string_view text = lines_.text_of(line).substr(indent);
    if (text.front() != '#') {
      if (indent != base_) bad_indentation(line, indent);
      statement_line(Logical{text, line, indent, 0}, 0, false);
      return;
    }
    const bool spaced = text.starts_with("# ");
    const std::string_view content = text.substr(spaced ? 2 : 1);
    const std::size_t column = indent + (spaced ? 2 : 1);
    if (indent < base_ + 2) {
      if (indent != base_) bad_indentation(line, indent);
      comment(Logical{content, line, column, 0}, 0);
      return;
    }
    if ((indent - base_) % 2 != 0) bad_indentation(line, indent);
    std::size_t depth = (indent - base_) / 2;
    if (depth > open_.size() || depth > kMaxStatementDepth) {
      // "# text" indented deeper than anything above it.
      if (depth <= kMaxStatementDepth || open_.size() < kMaxStatementDepth)
        bad_indentation(line, indent);
      depth = std::min(open_.size(), kMaxStatementDepth);
    }
    if (content.starts_with('#')) {
      const bool inner_spaced = content.starts_with("# ");
      comment(
          Logical{content.substr(inner_spaced ? 2 : 1), line, column + (inner_spaced ? 2 : 1), 0},
          depth);
    } else if (trim(content).empty()) {
      content_end_ = line.end;
    } else {
      statement_line(Logical{content, line, column, 0}, depth, true);
    }
  }

  void bad_indentation(const Line& line, std::size_t indent) {
    lines_.report(DiagnosticCode::BadIndentation, Severity::Warning, line, 0, indent,
                  fmt::format("indentation of {} fits no open statement",
                              count_of(indent, "column", "columns")));
  }

  void comment(const Logical& comment, std::size_t depth) {
    last_line_ = comment;
    if (unpack_ != nullptr && unpack_depth_ == depth &&
        take_unpack_detail(comment.text, types_, *unpack_)) {
      content_end_ = comment.line.end;
      return;
    }
    if (is_elision(comment.text)) {
      auto node = std::make_shared<BoundSymbol>();
      node->kind = StatementKind::Elision;
      node->callee = std::string("# ").append(comment.text);
      elision(comment);
      add(std::move(node), comment, depth, comment.text.size());
      return;
    }
    if (depth == 0) {
      bool canonical = false;
      if (auto position = parse_program_line(comment.text, canonical)) {
        program_line(std::move(*position), comment, canonical);
        return;
      }
    }
    if (auto statement =
            parse_comment_statement(comment.text, types_, is_parameter(comment.text))) {
      add(std::make_shared<BoundSymbol>(std::move(*statement)), comment, depth,
          comment.text.size());
      return;
    }
    if (!pending_.empty() && pending_depth_ != depth) flush_pending();
    if (pending_line_ && depth > 0) position_without_statement();
    if (depth == 0) close_open_group();
    pending_depth_ = depth;
    pending_.push_back(comment);
    content_end_ = comment.line.end;
    unpack_ = nullptr;
  }

  bool is_parameter(std::string_view text) {
    if (text.ends_with(' ')) text.remove_suffix(1);
    if (name_end(text, 0) != text.size() || text.empty()) return false;
    if (parameters_.empty()) {
      for (const Parameter& parameter : trace_.parameters) parameters_.insert(parameter.name);
    }
    return parameters_.contains(text);
  }

  void elision(const Logical& at) {
    lines_.report(DiagnosticCode::Elision, Severity::Warning, at.line, at.column, at.text.size(),
                  "lines were left out here",
                  "names that they define are unknown; paste the whole trace to check and run it");
  }

  void statement_line(Logical logical, std::size_t depth, bool commented) {
    last_line_ = logical;
    if (is_elision(logical.text)) {
      auto node = std::make_shared<BoundSymbol>();
      node->kind = StatementKind::Elision;
      node->callee = std::string(logical.text);
      elision(logical);
      add(std::move(node), logical, depth, logical.text.size());
      return;
    }
    if (logical.text.back() == '\\') join_continuation(logical, commented);
    auto node = std::make_shared<BoundSymbol>();
    std::size_t end = 0;
    SyntaxError error;
    bool parsed = parse_statement_line(logical.text, types_, *node, end, error);
    if (!parsed && error.code == DiagnosticCode::UnbalancedBrackets && join_broken_value(logical)) {
      *node = BoundSymbol{};
      parsed = parse_statement_line(logical.text, types_, *node, end, error);
    }
    if (!parsed) {
      *node = BoundSymbol{};
      node->kind = StatementKind::Unparsed;
      node->callee = std::string(logical.text);
      end = logical.text.size();
      statement_error(logical, error, commented);
    } else if (node->kind == StatementKind::UnpackSequence) {
      node->layout.one_name_per_line =
          logical.continuations > 0 && logical.continuations == node->output.items.size();
    }
    const bool unpacks = node->kind == StatementKind::UnpackSequence;
    if (depth == 0 && node->kind == StatementKind::Return) returned_ = true;
    const std::shared_ptr<BoundSymbol> added = node;
    add(std::move(node), logical, depth, end);
    if (unpacks) {
      unpack_ = added.get();
      unpack_depth_ = depth;
    }
  }

  void statement_error(const Logical& logical, const SyntaxError& error, bool commented) {
    const bool cut = at_trace_end() && error.code != DiagnosticCode::TooDeep &&
                     (!returned_ || error.code == DiagnosticCode::UnbalancedBrackets);
    const std::size_t width = logical.line.end - logical.line.begin - logical.column;
    const std::size_t offset = std::min(error.offset, width);
    lines_.report(cut ? DiagnosticCode::TruncatedLine : error.code,
                  commented ? Severity::Warning : Severity::Error, logical.line,
                  logical.column + offset, error.length,
                  cut ? "the text ends inside this statement" : error.message,
                  cut ? "" : error.hint);
    if (cut) last_cut_reported_ = true;
  }

  // The line just taken is the last one of its trace.
  [[nodiscard]] bool at_trace_end() const {
    return !lines_.has_line() || is_head_line(lines_.peek());
  }

  void report_cut_end() {
    if (returned_ || last_cut_reported_) return;
    BoundSymbol* last =
        pending_.empty() && !pending_line_ && !open_.empty() ? open_.back() : nullptr;
    const bool text_ends = !lines_.has_line() && !text_.ends_with('\n');
    const CutEnd cut = cut_end(trace_, last_line_.text, last, text_ends);
    if (cut == CutEnd::No) return;
    lines_.report(DiagnosticCode::TruncatedLine, Severity::Error, last_line_.line,
                  last_line_.column, last_line_.text.size(), "the text ends inside this line");
    if (cut != CutEnd::Statement) return;
    BoundSymbol unparsed;
    unparsed.kind = StatementKind::Unparsed;
    unparsed.callee = std::string(last_line_.text);
    unparsed.header = std::move(last->header);
    unparsed.program_line = std::move(last->program_line);
    unparsed.at = last->at;
    *last = std::move(unparsed);
  }

  // `t0, t1, \` and the lines after it.
  void join_continuation(Logical& logical, bool commented) {
    if (commented && !logical.text.ends_with(", \\")) return;
    std::string joined(logical.text);
    while (joined.ends_with('\\') && lines_.has_line()) {
      std::string_view next = lines_.peek();
      next.remove_prefix(indentation(next));
      if (commented) {
        if (!next.starts_with('#')) break;
        next.remove_prefix(next.starts_with("# ") ? 2 : 1);
      }
      joined.pop_back();
      joined += next;
      logical.line.end = lines_.take().end;
      ++logical.continuations;
    }
    keep(logical, std::move(joined));
  }

  // Values of torch's structseq types are printed over several lines, the further ones at column 0.
  bool join_broken_value(Logical& logical) {
    if (base_ == 0) return false;
    std::string joined(logical.text);
    while (lines_.has_line() && !lines_.peek().empty() && lines_.peek().front() != ' ' &&
           !is_head_line(lines_.peek())) {
      joined += '\n';
      joined += lines_.peek();
      logical.line.end = lines_.take().end;
      ++logical.continuations;
    }
    if (logical.continuations == 0) return false;
    keep(logical, std::move(joined));
    return true;
  }

  void keep(Logical& logical, std::string joined) {
    joined_ = std::move(joined);
    logical.text = joined_;
  }

  // ---- statements into the trace
  // The blank line and source position above the statements of depth 0 that is being read.
  struct Group {
    std::size_t begin = 0;          // first byte after the group before
    std::size_t content_begin = 0;  // first byte after the position
    bool has_position = false;
    bool canonical_position = false;
    std::shared_ptr<BoundSymbol> statement;  // null while only header lines and position were read
  };

  void close_open_group() {
    if (group_.statement) close_group();
  }

  void close_group() {
    const bool canonical_prefix = group_.has_position && group_.canonical_position;
    const std::size_t begin = canonical_prefix ? group_.content_begin : group_.begin;
    const std::string_view as_read = text_.substr(begin, content_end_ - begin);
    buffer_.clear();
    append_statement(buffer_, *group_.statement, base_, SubStatements::Print);
    if ((group_.has_position && !canonical_prefix) || buffer_.size() != as_read.size() + 1 ||
        !std::string_view(buffer_).starts_with(as_read)) {
      group_.statement->verbatim = std::string(as_read);
      group_.statement->verbatim_has_program_line = group_.has_position && !canonical_prefix;
    }
    last_showed_position_ = group_.has_position;
    group_ = {};
    group_.begin = std::min(content_end_ + 1, text_.size());
  }

  void program_line(ProgramLine position, const Logical& comment, bool canonical) {
    if (!pending_.empty()) flush_pending();
    if (pending_line_) position_without_statement();
    close_open_group();
    const std::string_view blank = text_.substr(group_.begin, comment.line.begin - group_.begin);
    group_.canonical_position = canonical && comment.column == base_ + 2 &&
                                blank == (trace_.bound_symbols.empty() ? "" : "\n");
    group_.has_position = true;
    group_.content_begin = std::min(comment.line.end + 1, text_.size());
    pending_line_ = std::make_shared<const ProgramLine>(std::move(position));
    pending_line_at_ = comment;
    if (!trace_.bound_symbols.empty() && last_statement_) {
      // The position is printed again although it did not change: the statement before had none.
      const ProgramLine* previous = last_statement_->program_line.get();
      if (!shows_program_line(previous, pending_line_.get())) {
        if (last_showed_position_) {
          group_.canonical_position = false;
        } else {
          last_statement_->program_line.reset();
        }
      }
    }
    content_end_ = comment.line.end;
    unpack_ = nullptr;
  }

  void position_without_statement() {
    auto node = std::make_shared<BoundSymbol>();
    node->kind = StatementKind::Comment;
    node->callee = std::string(pending_line_at_.text);
    pending_line_.reset();
    group_.has_position = false;
    const Logical at = pending_line_at_;
    add(std::move(node), at, 0, at.text.size());
  }

  void add(std::shared_ptr<BoundSymbol> node, const Logical& logical, std::size_t depth,
           std::size_t length) {
    if (!pending_.empty() && pending_depth_ != depth) flush_pending();
    if (pending_line_ && depth > 0) position_without_statement();
    const std::size_t first_end =
        logical.continuations == 0 ? logical.line.end : text_.find('\n', logical.line.begin);
    const std::size_t width = std::min(first_end, text_.size()) - logical.line.begin;
    node->at = map_.range(logical.line.index, logical.column,
                          std::min(length, width > logical.column ? width - logical.column : 0));
    if (node->type && !node->type->problem.empty()) type_problem(*node->type, logical);
    depth = std::min(depth, open_.size());
    if (depth == 0) {
      close_open_group();
      if (pending_line_) {
        node->program_line = std::move(pending_line_);
        pending_line_.reset();
      } else if (last_statement_ && may_inherit_position(*node)) {
        node->program_line = last_statement_->program_line;
        if (node->program_line && !stored_name(*node).empty()) {
          copies_.push_back(static_cast<std::uint32_t>(trace_.bound_symbols.size()));
        }
      }
      group_.statement = node;
      last_statement_ = node;
      trace_.bound_symbols.push_back(node);
      own_.push_back(node.get());
    } else {
      open_[depth - 1]->subsymbols.push_back(node);
    }
    for (const Logical& header : pending_) node->header.emplace_back(header.text);
    pending_.clear();
    open_.resize(depth);
    open_.push_back(node.get());
    content_end_ = std::max(content_end_, logical.line.end);
    unpack_ = nullptr;
  }

  // Said where the type is read first.
  void type_problem(const Type& type, const Logical& logical) {
    if (!odd_types_.insert(&type).second) return;
    const std::string_view line = lines_.text_of(logical.line);
    const std::size_t at = std::min(line.find(type.text), line.size());
    lines_.report(DiagnosticCode::BadType, Severity::Warning, logical.line, at,
                  at == line.size() ? 1 : type.text.size(),
                  fmt::format("type '{}': {}", type.text, type.problem),
                  "a type is a device, a dtype and sizes in brackets: cpu f32[2, 3]");
  }

  // A statement without a position line stands where the one before stands, unless it comes from a
  // pass: Thunder makes `del`, the return, functional twins and reshapes without a position.
  // Matters once a pass moves lines.
  [[nodiscard]] bool may_inherit_position(const BoundSymbol& statement) const {
    if (statement.kind == StatementKind::Return || statement.kind == StatementKind::Del)
      return false;
    const std::string_view made_by = trace_.provenance;
    if (statement.is_call(OpCode::ReshapePrim) &&
        (made_by.starts_with("Duplicate alias args") ||
         made_by.find("unctionalize") != std::string_view::npos)) {
      return false;
    }
    return pending_.empty() || !pending_.front().text.starts_with("Functionalized from `");
  }

  // Header lines that no statement follows are comments of their own.
  void flush_pending() {
    std::vector<Logical> headers;
    headers.swap(pending_);
    const std::size_t depth = pending_depth_;
    const std::size_t content_end = content_end_;
    for (const Logical& header : headers) {
      auto node = std::make_shared<BoundSymbol>();
      node->kind = StatementKind::Comment;
      node->callee = std::string(header.text);
      if (depth == 0) {
        close_open_group();
        content_end_ = header.line.end;
      }
      add(std::move(node), header, depth, header.text.size());
    }
    content_end_ = content_end;
  }

  void end_trace() {
    report_cut_end();
    if (!pending_.empty()) flush_pending();
    if (pending_line_) position_without_statement();
    if (group_.statement) close_group();
    forget_foreign_positions();
    const std::size_t end = lines_.has_line() ? lines_.next().begin : text_.size();
    const std::string_view tail = text_.substr(content_end_, end - content_end_);
    trace_.ends_with_newline = !tail.empty();
    if (tail.size() > 1) trace_.verbatim_tail = std::string(tail.substr(1));
    last_statement_.reset();
    last_showed_position_ = false;
  }

  // Functionalization adds a copy_ of a value that it keeps, without a position, behind whatever
  // stands there: such a copy_ must not pass for the program's line before it. One whose value was
  // made on that line may. A statement without position resets the printer's memory, so those that
  // follow without a printed line have none either.
  void forget_foreign_positions() {
    if (copies_.empty() || trace_.provenance.empty()) return;
    const Producers producers(trace_);
    for (const std::uint32_t index : copies_) {
      BoundSymbol& copy = *own_[index];
      const BoundSymbol* const maker = producers.maker(stored_name(copy), index);
      if (!copy.program_line || maker == nullptr || maker->program_line == copy.program_line)
        continue;
      const std::shared_ptr<const ProgramLine> foreign = copy.program_line;
      for (std::size_t i = index; i < own_.size() && own_[i]->program_line == foreign; ++i) {
        own_[i]->program_line.reset();
      }
    }
  }

  std::string_view text_;
  const SourceMap& map_;
  LineReader lines_;
  TypeCache types_;
  std::unordered_set<const Type*> odd_types_;
  std::string joined_;  // logical line that spans several physical ones
  std::string buffer_;  // structural print, compared with what was read

  Trace trace_;
  std::unordered_set<std::string_view> parameters_;
  bool base_known_ = false;
  std::size_t base_ = 2;
  std::size_t content_end_ = 0;  // end of the last line that is not blank
  Group group_;
  std::vector<BoundSymbol*> own_;      // trace_.bound_symbols while they may still change
  std::vector<std::uint32_t> copies_;  // copy_ statements that took over a position
  std::vector<BoundSymbol*> open_;     // statements that a deeper line would be attached to
  std::shared_ptr<BoundSymbol> last_statement_;
  bool last_showed_position_ = false;
  bool returned_ = false;
  bool last_cut_reported_ = false;
  Logical last_line_;             // as read, to see whether the text ends inside it
  std::vector<Logical> pending_;  // header lines
  std::size_t pending_depth_ = 0;
  std::shared_ptr<const ProgramLine> pending_line_;
  Logical pending_line_at_;
  BoundSymbol* unpack_ = nullptr;  // takes detail lines
  std::size_t unpack_depth_ = 0;
};

}  // namespace

std::vector<Trace> parse_traces(std::string_view text, const SourceMap& map, DiagnosticSink& sink) {
  return TraceParser(text, map, sink).run();
}

}  // namespace tg::text
