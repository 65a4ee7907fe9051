/// The report for a terminal, in the format that editors recognize.
package struct TextReport: Sendable {
    package static func text(_ report: LintReport, isQuiet: Bool = false) -> String {
        var lines: [String] = []
        for finding in report.findings {
            lines.append(
                """
                \(finding.file):\(finding.line):\(finding.column): \
                \(finding.severity.rawValue): [\(finding.rule)] \(finding.message)
                """
            )
            lines += finding.path.map { "    \($0)" }
            lines.append("    help: \(finding.help)")
        }
        if !isQuiet {
            lines += report.notes.map { note in
                "note: \(note.file.map { "\($0): " } ?? "")\(note.text)"
            }
        }
        lines.append(summary(report))
        return lines.joined(separator: "\n") + "\n"
    }

    package static func summary(_ report: LintReport) -> String {
        let errors = report.findings.count { $0.severity == .error }
        let warnings = report.findings.count - errors
        var parts = ["\(counted(report.fileCount, "file"))"]
        parts.append(
            errors + warnings == 0
                ? "nothing found"
                : [
                    errors > 0 ? counted(errors, "error") : nil,
                    warnings > 0 ? counted(warnings, "warning") : nil,
                ]
                .compactMap { $0 }.joined(separator: ", ")
        )
        if report.allowedCount > 0 { parts.append("\(report.allowedCount) allowed by comments") }
        if !report.baselined.isEmpty || !report.staleKeys.isEmpty {
            let stale =
                report.staleKeys.isEmpty
                ? "" : ", \(report.staleKeys.count) of its lines stale"
            parts.append("\(report.baselined.count) in the baseline\(stale)")
        }
        return "keel-lint: " + parts.joined(separator: "; ")
    }

    private static func counted(_ count: Int, _ word: String) -> String {
        "\(count) \(word)\(count == 1 ? "" : "s")"
    }
}
