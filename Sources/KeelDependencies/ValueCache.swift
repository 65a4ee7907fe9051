import Synchronization

/// Makes each key's value once and keeps it.
///
/// The caches of live and preview values belong to the process, and still are not mutable state
/// that anyone could observe: a slot goes from "not made" to its one value before anybody sees
/// it, nothing replaces or clears it, and the value is made outside every override. Reading it
/// early or late, from one thread or many, gives the same answer, as with a `static let`.
///
/// A value that needs itself while it is being made stops the process, as a `static let` does.
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
            let slot = Slot()
            slots[id] = slot
            return slot
        }
        return slot.value(make: make)
    }
}

/// The place of one key's value.
///
/// Its lock is held while the value is made, so that others wait for it; the cache's lock is not,
/// so that a value may read other keys.
private final class Slot: Sendable {
    private let content = Mutex<(any Sendable)?>(nil)

    func value<Value: Sendable>(make: () -> Value) -> Value {
        content.withLock { content in
            // Unwrapped before the cast: a missing value would pass for a made one whose type is
            // optional.
            if let content, let made = content as? Value {
                return made
            }
            let made = make()
            content = .some(made)
            return made
        }
    }
}
