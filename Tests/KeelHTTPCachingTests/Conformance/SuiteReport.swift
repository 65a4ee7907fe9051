import HTTPTypes
import KeelHTTPCaching
import Testing

/// One of the two kinds of cache that the suite is run on.
struct SuiteMode: Sendable, CustomTestStringConvertible {
    let name: String
    var configuration: HTTPCache.Configuration
    let applies: @Sendable (CacheCase) -> Bool

    var testDescription: String { name }

    /// An app's own cache: what only caches of several users do does not apply.
    static let onePerson = SuiteMode(
        name: "private",
        configuration: HTTPCache.Configuration()
    ) { test in
        !test.isCDNOnly && !test.isSharedOnly && !test.hasInterimResponses
    }

    /// A proxy's cache, with the field that CDNs look at.
    static let everybody: SuiteMode = {
        var configuration = HTTPCache.Configuration.shared
        // The suite goes by RFC 9111's letter, which leaves cookies to origins (section 7.3).
        configuration.sharesCookies = true
        configuration.targetedFields = ["CDN-Cache-Control"].compactMap { HTTPField.Name($0) }
        return SuiteMode(name: "shared", configuration: configuration) { test in
            !test.isBrowserOnly && !test.hasInterimResponses
        }
    }()

    static let all = [onePerson, everybody]
}

/// What came of the suite in one mode.
struct SuiteReport: Sendable {
    var verdicts: [String: SuiteRun.Verdict] = [:]
    var kinds: [String: CacheCase.Kind] = [:]

    static func run(_ mode: SuiteMode) async -> SuiteReport {
        var report = SuiteReport()
        let cases = CacheSuite.all.filter(mode.applies)
        for test in cases {
            report.verdicts[test.id] = await SuiteRun(test, mode.configuration).verdict()
            report.kinds[test.id] = test.kind
        }
        // A case counts only if those that it builds upon pass, as the suite has it.
        for test in cases where report.verdicts[test.id] == .passed {
            let missing = test.dependencies.filter { id in
                report.verdicts[id].map { $0 != .passed } ?? false
            }
            if !missing.isEmpty {
                report.verdicts[test.id] = .notSetUp("needs \(missing.joined(separator: ", "))")
            }
        }
        return report
    }

    func score(_ kind: CacheCase.Kind) -> (passed: Int, total: Int) {
        let ids = kinds.filter { $0.value == kind }.map(\.key)
        return (ids.count { verdicts[$0] == .passed }, ids.count)
    }

    var scores: String {
        [CacheCase.Kind.required, .optimal, .check].map { kind in
            let (passed, total) = score(kind)
            return "\(kind.rawValue) \(passed)/\(total)"
        }.joined(separator: ", ")
    }

    var lines: [String] {
        verdicts.filter { $0.value != .passed }
            .map { "\(kinds[$0.key]?.rawValue ?? "") \($0.key): \($0.value)" }.sorted()
    }
}
