import Foundation
import HTTPTypes
import KeelCache
import KeelHTTPCaching
import Testing

@Suite(
    "The public HTTP cache test suite",
    .enabled(
        if: CacheSuite.isPresent,
        "there is no suite at \(CacheSuite.file.path); KEEL_CONFORMANCE names a folder"
    ),
    .timeLimit(.minutes(2))
)
struct CacheSuiteTests {
    /// Required and optimal cases that fail, each with the reason.
    ///
    /// The list must be accurate: a case that passes must not be in it.
    static let exceptions: [String: String] = [
        "conditional-lm-fresh-no-lm":
            """
        The client's date is an hour before the stored response's Date, and there is no \
        Last-Modified. RFC 9111 section 4.3.2 compares with Date then: the response is newer, \
        so it is sent whole and not as 304.
        """,
        "partial-store-partial-complete":
            """
        The stored part has no validator. A second part could not be combined with it (RFC 9110 \
        section 15.3.7.3), so the whole is asked for at once.
        """,
        "partial-store-partial-reuse-partial-absent":
            """
        The scripted body has five bytes and a Content-Range of six. The five are taken for the \
        first ones; the last byte, which the request asks for, never came.
        """,
        "partial-store-partial-reuse-partial-suffix":
            """
        The scripted body has five bytes and a Content-Range of six. The five are taken for the \
        first ones; the last byte, which the request asks for, never came.
        """,
    ]

    @Test(
        "Every required and optimal case passes, except documented ones",
        arguments: SuiteMode.all
    )
    func passes(_ mode: SuiteMode) async {
        let report = await SuiteReport.run(mode)
        for (id, verdict) in report.verdicts where report.kinds[id] != .check {
            if let reason = Self.exceptions[id] {
                #expect(verdict != .passed, "\(id) passes, so it is no exception: \(reason)")
            } else {
                #expect(verdict == .passed, "\(id)")
            }
        }
        print("HTTP cache suite, \(mode.name): \(report.scores)")
    }

    @Test("The runner detects a cache that stores nothing")
    func findsAbsence() async {
        var mode = SuiteMode.privateCache
        mode.configuration.bodyLimit = -1
        let report = await SuiteReport.run(mode)
        #expect(report.score(.optimal).passed < 5)
        #expect(report.score(.required).passed < 30)
    }

    @Test("The runner detects a shared cache with the rules of a private one")
    func findsBoldness() async {
        var mode = SuiteMode.sharedCache
        mode.configuration = HTTPCache.Configuration()
        let report = await SuiteReport.run(mode)
        #expect(report.verdicts["cc-resp-private-shared"] != .passed)
        #expect(report.verdicts["other-authorization-public"] != .passed)
    }
}
