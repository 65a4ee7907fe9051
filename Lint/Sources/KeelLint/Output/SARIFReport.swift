package import Foundation

/// The report in SARIF 2.1.0 (OASIS, 27 March 2020).
package struct SARIFReport: Sendable {
    private struct Log: Encodable {
        let version = "2.1.0"
        let schema = "https://json.schemastore.org/sarif-2.1.0.json"
        let runs: [Run]

        private enum CodingKeys: String, CodingKey {
            case version
            case schema = "$schema"
            case runs
        }
    }

    private struct Run: Encodable {
        let tool: Tool
        let originalUriBaseIds = ["PROJECTROOT": Base()]
        let columnKind = "utf16CodeUnits"
        let results: [Result]
    }

    private struct Base: Encodable {
        let description = Text(text: "The folder that keel-lint ran in.")
    }

    private struct Tool: Encodable { let driver: Driver }

    private struct Driver: Encodable {
        let name = "keel-lint"
        let version = LintVersion.current
        let rules: [Rule]
    }

    private struct Rule: Encodable {
        let id: String
        let shortDescription: Text
        let fullDescription: Text
        let help: Text
        let defaultConfiguration: Level
    }

    private struct Level: Encodable { let level: String }

    private struct Text: Encodable { let text: String }

    private struct Result: Encodable {
        let ruleId: String
        let ruleIndex: Int
        let level: String
        let message: Text
        let locations: [Location]
        let partialFingerprints: [String: String]
        let suppressions: [Suppression]
        let baselineState: String?
    }

    private struct Suppression: Encodable {
        let kind = "external"
        let justification = "It is in the baseline."
    }

    private struct Location: Encodable { let physicalLocation: Physical }

    private struct Physical: Encodable {
        let artifactLocation: Artifact
        let region: Region
    }

    private struct Artifact: Encodable {
        let uri: String
        let uriBaseId = "PROJECTROOT"
    }

    private struct Region: Encodable {
        let startLine: Int
        let startColumn: Int
    }

    /// Findings in the baseline are marked as suppressed.
    package static func data(_ report: LintReport) throws -> Data {
        let all =
            report.findings.map { ($0, false) } + report.baselined.map { ($0, true) }
        let used = Set(all.map(\.0.rule))
        let contracts = report.project.configuration.contracts.map { contract in
            Rule(
                id: contract.name,
                shortDescription: Text(
                    text: "The contract \(contract.name) (\(contract.word)) holds."
                ),
                fullDescription: Text(text: contract.because ?? "A contract of the configuration."),
                help: Text(text: contract.because ?? "See the configuration."),
                defaultConfiguration: Level(level: "error")
            )
        }
        let rules =
            BuiltInRules.all.map { rule in
                Rule(
                    id: rule.id,
                    shortDescription: Text(text: rule.summary),
                    fullDescription: Text(text: rule.reason),
                    help: Text(text: "\(rule.help)\n\nLimits: \(rule.limits)"),
                    defaultConfiguration: Level(level: rule.severity.rawValue)
                )
            } + contracts.filter { used.contains($0.id) }
        let positions = Dictionary(
            rules.enumerated().map { ($1.id, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        var columns = Columns(root: report.root)
        let results = all.map { finding, isKnown in
            let region = Region(startLine: finding.line, startColumn: columns.column(of: finding))
            return Result(
                ruleId: finding.rule,
                ruleIndex: positions[finding.rule] ?? -1,
                level: finding.severity.rawValue,
                message: Text(
                    text: ([finding.message] + finding.path + [finding.help]).joined(
                        separator: "\n"
                    )
                ),
                locations: [
                    Location(
                        physicalLocation: Physical(
                            artifactLocation: Artifact(uri: escaped(finding.file)),
                            region: region
                        )
                    )
                ],
                partialFingerprints: ["keelLint/v1": fingerprint(finding)],
                suppressions: isKnown ? [Suppression()] : [],
                baselineState: report.project.configuration.baseline == nil
                    ? nil : isKnown ? "unchanged" : "new"
            )
        }
        return try JSONReport.encoded(
            Log(runs: [Run(tool: Tool(driver: Driver(rules: rules)), results: results)])
        )
    }

    /// Converts columns from UTF-8 to UTF-16.
    private struct Columns {
        let root: String
        private var files: [String: (bytes: [UInt8], lines: LineTable)] = [:]

        init(root: String) { self.root = root }

        mutating func column(of finding: Finding) -> Int {
            guard finding.column > 1 else { return finding.column }
            let (bytes, lines) = source(finding.file)
            let start = lines.start(ofLine: finding.line - 1, in: bytes.count)
            let end = start + finding.column - 1
            // The file may have changed since it was linted.
            guard end <= bytes.count else { return finding.column }
            return String(decoding: bytes[start..<end], as: UTF8.self).utf16.count + 1
        }

        private mutating func source(_ file: String) -> (bytes: [UInt8], lines: LineTable) {
            if let known = files[file] { return known }
            // The linter has counted in the converted text.
            let data = FileManager.default.contents(atPath: "\(root)/\(file)") ?? Data()
            let bytes = [UInt8](SourceText.utf8(data).text ?? Data())
            let source = (bytes, bytes.withUnsafeBufferPointer(LineTable.init))
            files[file] = source
            return source
        }
    }

    private static func fingerprint(_ finding: Finding) -> String {
        var text = "\(finding.rule)\t\(finding.file)\t\(finding.symbol)"
        let hash = text.withUTF8 { ContentHash(UnsafeRawBufferPointer($0)) }
        return String(hash.first, radix: 16) + String(hash.second, radix: 16)
    }

    private static func escaped(_ path: String) -> String {
        path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
    }
}

package enum LintVersion: Sendable {
    package static let current = "0.1.0"
}
