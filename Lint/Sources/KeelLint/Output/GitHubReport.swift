/// The report as workflow commands of GitHub, which annotate the lines of findings.
package struct GitHubReport: Sendable {
    package static func text(_ report: LintReport) -> String {
        report.findings.map { finding in
            let message = ([finding.message] + finding.path + [finding.help]).joined(
                separator: "\n"
            )
            return
                """
                ::\(finding.severity.rawValue) \
                file=\(property(finding.file)),line=\(finding.line),col=\(finding.column),title=\(property(finding.rule))::\(data(message))\n
                """
        }
        .joined() + "::notice title=keel-lint::\(data(TextReport.summary(report)))\n"
    }

    private static func data(_ text: String) -> String {
        text.map { character in
            switch character {
            case "%": "%25"
            case "\r": "%0D"
            case "\n", "\r\n": "%0A"
            default: String(character)
            }
        }
        .joined()
    }

    private static func property(_ text: String) -> String {
        data(text).map { $0 == ":" ? "%3A" : $0 == "," ? "%2C" : String($0) }.joined()
    }
}
