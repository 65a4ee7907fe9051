import Synchronization

/// A cache that creates each key's value once.
///
/// The caches of live and preview values belong to the process; nothing replaces or clears a value.
///
/// If values need each other during creation, on one thread or several, the process stops with a message that names
/// them.
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

/// The slot of one key's value.
///
/// Other readers wait while the value is created, without the cache's lock, so that creating a value may read other
/// keys.
private final class Slot: Sendable {
    private let key: String
    private let made = Mutex<(any Sendable)?>(nil)
    private let making = Mutex<Void>(())

    init(key: String) { self.key = key }

    func value<Value: Sendable>(make: () -> Value) -> Value {
        if let value: Value = current() { return value }
        let own = ValueNeeds.Node(id: ObjectIdentifier(self), key: key)
        return ValueNeeds.need(own) {
            making.withLock { _ in
                // Another thread may have created the value in the meantime.
                if let value: Value = current() { return value }
                let value = ValueNeeds.make(own, make)
                made.withLock { $0 = .some(value) }
                return value
            }
        }
    }

    private func current<Value>() -> Value? {
        made.withLock { made in
            // Unwrapped before the cast: otherwise a missing value would pass for nil of an optional type.
            guard let made else { return nil }
            return made as? Value
        }
    }
}
