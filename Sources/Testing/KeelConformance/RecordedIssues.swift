import Synchronization
import Testing

/// Returns whether work records an issue, from any task; the test that calls does not fail for it.
package func recordsIssue(_ work: @Sendable () async throws -> Void) async throws -> Bool {
    let isAny = Mutex(false)
    // Intermittent, because the absence of an issue is a result, which the caller judges.
    try await withKnownIssue(isIntermittent: true) {
        try await work()
    } matching: { _ in
        isAny.withLock { $0 = true }
        return true
    }
    return isAny.withLock { $0 }
}
