import Synchronization

/// Makes each key's value once and keeps it.
///
/// The caches of live and preview values belong to the process, and still are not mutable state
/// that anyone could observe: a slot goes from "not made" to its one value before anybody sees
/// it, nothing replaces or clears it, and the value is made outside every override. Reading it
/// early or late, from one thread or many, gives the same answer, as with a `static let`.
///
/// Values that need each other while they are being made stop the process, on one thread or on
/// several, with a message that names them.
final class ValueCache: Sendable {
    static let live = ValueCache()
    static let preview = ValueCache()

    private let slots = Mutex([ObjectIdentifier: Slot]())

    func value<Key: DependencyKey>(of key: Key.Type, make: () -> Key.Value) -> Key.Value {
        let slot = slots.withLock { slots in
            let id = ObjectIdentifier(key)
            if let slot = slots[id] {
                return slot
            }
            let slot = Slot(key: String(reflecting: key))
            slots[id] = slot
            return slot
        }
        return slot.value(make: make)
    }
}

/// The place of one key's value.
///
/// Others wait while the value is made; the cache's lock is not held, so that a value may read other
/// keys.
private final class Slot: Sendable {
    private let key: String
    private let made = Mutex<(any Sendable)?>(nil)
    /// Held while the value is made.
    private let making = Mutex<Void>(())

    init(key: String) { self.key = key }

    func value<Value: Sendable>(make: () -> Value) -> Value {
        if let value: Value = current() { return value }
        let own = ValueNeeds.Node(id: ObjectIdentifier(self), key: key)
        return ValueNeeds.need(own) {
            making.withLock { _ in
                // Another thread may have made it while this one waited.
                if let value: Value = current() { return value }
                let value = ValueNeeds.make(own, make)
                made.withLock { $0 = .some(value) }
                return value
            }
        }
    }

    private func current<Value>() -> Value? {
        made.withLock { made in
            // Unwrapped before the cast: a missing value would pass for a made one whose type is
            // optional.
            guard let made else { return nil }
            return made as? Value
        }
    }
}
