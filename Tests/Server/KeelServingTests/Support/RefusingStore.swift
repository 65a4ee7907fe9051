import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Synchronization

/// A store that refuses to read changes for callers without a principal, or for all callers.
final class RefusingStore: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    private let code: StorageError.Code
    private let refusesAll: Bool
    private let state: Mutex<(refused: Int, left: Int)>

    init(
        _ upstream: any StorageAdapter,
        _ code: StorageError.Code,
        times: Int = .max,
        refusesAll: Bool = false
    ) {
        self.upstream = upstream
        self.code = code
        self.refusesAll = refusesAll
        state = Mutex((refused: 0, left: times))
    }

    /// The number of requests that were refused.
    var refusals: Int { state.withLock { $0.refused } }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let isConcerned = refusesAll || StorageContext.current.principal == nil
        let isRefused = state.withLock { state in
            guard isConcerned, state.left > 0 else { return false }
            state.left -= 1
            state.refused += 1
            return true
        }
        guard !isRefused else { throw StorageError(code, "made to fail") }
        return try await upstream.changes(request)
    }
}
