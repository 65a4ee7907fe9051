import Foundation
import KeelAnalytics
import KeelCache
import KeelCore
import KeelHTTP
import KeelJournal
import KeelLogging
import KeelStorage
import KeelTestKit
import KeelWebSocket
import Testing

@Suite("Error codes of each area follow the house rules")
struct HouseRuleTests {
    @Test("Each StorageError code has a unique name, advice and a localized description")
    func storage() {
        check(StorageError.Code.known) { StorageError($0, "what happened") }
        check([.unscripted, .unimplemented]) { (code: StorageError.Code) in
            StorageError(code, "what happened")
        }
    }

    @Test("Each code of the HTTP errors has a unique name, advice and a localized description")
    func http() {
        check(TransportError.Code.known) { TransportError($0, "what happened") }
        check(NetworkError.Code.known) { NetworkError($0, "what happened") }
        check(WebSocketError.Code.known) { WebSocketError($0, "what happened") }
        check(AuthenticationError.Code.known) { AuthenticationError($0, "what happened") }
    }

    @Test("Each CacheError code has a unique name, advice and a localized description")
    func cache() { check(CacheError.Code.known) { CacheError($0, "what happened") } }

    @Test("Each code of the journal, logging and analytics errors has a unique name and advice")
    func telemetry() {
        check(JournalError.Code.known) { JournalError($0, "what happened") }
        check(AnalyticsError.Code.known) { AnalyticsError($0, "what happened") }
        #if Logging
        check(LoggingError.Code.known) { LoggingError($0, "what happened") }
        #endif
    }

    private func check<Failure: KeelError>(
        _ codes: [Failure.Code],
        error: (Failure.Code) -> Failure
    ) {
        #expect(Set(codes.map(\.name)).count == codes.count)
        #expect(!codes.contains(.cancelled) || !error(.cancelled).isTransient)
        #expect(error(.cancelled).isCancellation)
        for code in codes {
            #expect(!code.name.isEmpty)
            #expect(
                code.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) },
                "a metric label: \(code)"
            )
            #expect(code.advice.hasSuffix("."), "advice is a sentence: \(code)")
            #expect(code.advice.count > 15, "advice helps: \(code)")

            // Through Foundation, as in an app's alert.
            let localized: any LocalizedError = error(code)
            #expect(localized.errorDescription == "what happened")
            #expect(localized.recoverySuggestion == code.advice)
            #expect((localized as any Error).localizedDescription == "what happened")
        }
    }
}
