import Foundation
import KeelCore
import KeelStorageFirestore

extension FirestoreStorageAdapter.Configuration {
    /// The configuration of a client of `keel serve` whose calls have ten minutes.
    ///
    /// Tests that wait for a process occupy the threads that a call needs.
    static func patient(_ server: URL, database: String = "(default)") -> Self {
        var configuration = keel(server, database: database)
        configuration.timeout = .seconds(600)
        return configuration
    }
}

extension RetryPolicy {
    /// Repeats a call until it succeeds.
    static let patient = RetryPolicy(
        attempts: 1_000_000,
        baseDelay: .milliseconds(5),
        maximumDelay: .milliseconds(50)
    )
}
