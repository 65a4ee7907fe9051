import HTTPTypes
import KeelHTTPCaching
import Testing

/// A kind of cache on which the suite runs.
struct SuiteMode: Sendable, CustomTestStringConvertible {
    let name: String
    var configuration: HTTPCache.Configuration
    let applies: @Sendable (CacheCase) -> Bool

    var testDescription: String { name }

    /// An app's private cache, excluding cases for shared caches.
    static let privateCache = SuiteMode(
        name: "private",
        configuration: HTTPCache.Configuration()
    ) { test in
        !test.isCDNOnly && !test.isSharedOnly && !test.hasInterimResponses
    }

    /// A proxy's cache, with the field that CDNs use.
    static let sharedCache: SuiteMode = {
        var configuration = HTTPCache.Configuration.shared
        // The suite follows RFC 9111 literally, which leaves cookies to origins (section 7.3).
        configuration.servesStoredCookies = true
        configuration.targetedFields = ["CDN-Cache-Control"].compactMap { HTTPField.Name($0) }
        return SuiteMode(name: "shared", configuration: configuration) { test in
            !test.isBrowserOnly && !test.hasInterimResponses
        }
    }()

    static let all = [privateCache, sharedCache]
}

/// The result of the suite in one mode.
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
        // As in the suite, a case counts only if the cases it depends on pass.
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
}
