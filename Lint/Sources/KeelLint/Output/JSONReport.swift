package import Foundation

package struct JSONReport: Sendable {
    private struct Root: Encodable {
        let version = 1
        let files: Int
        let findings: [Item]
        let baseline: [Item]
        let stale: [Key]
        let allowed: Int
        let remarks: [Note]
    }

    private struct Item: Encodable {
        let rule: String
        let severity: String
        let file: String
        let line: Int
        let column: Int
        let symbol: String
        let message: String
        let help: String
        let chain: [String]

        init(_ finding: Finding) {
            rule = finding.rule
            severity = finding.severity.rawValue
            file = finding.file
            line = finding.line
            column = finding.column
            symbol = finding.symbol
            message = finding.message
            help = finding.help
            chain = finding.path
        }
    }

    private struct Key: Encodable {
        let rule: String
        let file: String
        let symbol: String
    }

    private struct Note: Encodable {
        let file: String?
        let text: String
    }

    /// Equal reports give equal bytes.
    package static func data(_ report: LintReport) throws -> Data {
        try encoded(
            Root(
                files: report.fileCount,
                findings: report.findings.map(Item.init),
                baseline: report.baselined.map(Item.init),
                stale: report.staleKeys.map {
                    Key(rule: $0.rule, file: $0.file, symbol: $0.symbol)
                },
                allowed: report.allowedCount,
                remarks: report.notes.map { Note(file: $0.file, text: $0.text) }
            )
        )
    }

    static func encoded(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value) + [0x0A]
    }
}
