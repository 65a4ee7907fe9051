import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Synchronization

/// A store whose waits for changes fail a few times.
///
/// Only waits fail, which are those of the shared reader.
final class FlakyChanges: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    private let faults = Mutex<(code: StorageError.Code, times: Int)>((.unknown, 0))

    init(_ upstream: InMemoryStorageAdapter) { self.upstream = upstream }

    private let gate = Mutex<Gate?>(nil)

    /// Delays the next page of a listener's own after it was read.
    func hold(at gate: Gate) { self.gate.withLock { $0 = gate } }

    func fail(with code: StorageError.Code, times: Int) {
        faults.withLock { $0 = (code, times) }
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let page = try await upstream.changes(request)
        let fault = faults.withLock { faults -> StorageError.Code? in
            guard request.waitTimeout != nil, faults.times > 0 else { return nil }
            faults.times -= 1
            return faults.code
        }
        let gate = request.waitTimeout == nil ? gate.withLock { $0.take() } : nil
        _ = try? await gate?.pass()
        if let fault { throw StorageError(fault, "made to fail") }
        return page
    }
}
