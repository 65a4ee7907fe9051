import KeelCache
import Synchronization

final class Calls: Sendable {
    private let list = Mutex<[CacheTierObservation]>([])

    var all: [CacheTierObservation] { list.withLock { $0 } }

    func add(_ call: CacheTierObservation) { list.withLock { $0.append(call) } }
}
