import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelTestKit

func increment(_ field: FieldPath) -> FieldChange { FieldChange(field, .transform(.increment(1))) }

/// Returns a batch that adds 1 to a counter, so that a second application would show.
func incrementBatch(_ path: DocumentPath) -> WriteBatch {
    WriteBatch([DocumentWrite(path, .update([increment("count")]))])
}

func textBatch(_ path: DocumentPath, _ text: String) throws -> WriteBatch {
    WriteBatch([try .set(["text": .string(text)], at: path)])
}

extension RetryPolicy {
    /// Returns a policy with this many attempts and no pauses.
    static func atOnce(_ attempts: Int) -> RetryPolicy {
        RetryPolicy(attempts: attempts, baseDelay: .zero)
    }
}

/// The memory adapter without idempotency, which many backends lack.
struct ForgetfulStorageAdapter: ForwardingStorageAdapter {
    let upstream: any StorageAdapter = InMemoryStorageAdapter()

    var capabilities: StorageCapabilities { upstream.capabilities.subtracting(.idempotentCommits) }
}
