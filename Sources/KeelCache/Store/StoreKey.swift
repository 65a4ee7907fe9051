/// The key of an entry in the memory that the caches of a store share.
///
/// `@unchecked`, because `AnyHashable` does not say what it holds: only keys that are `Sendable` are
/// put into it.
@usableFromInline
struct StoreKey: Hashable, @unchecked Sendable {
    let view: StoreView
    let key: AnyHashable

    init(_ view: StoreView, _ key: some Hashable & Sendable) {
        self.view = view
        self.key = AnyHashable(key)
    }

    @usableFromInline
    static func == (left: Self, right: Self) -> Bool {
        left.view === right.view && left.key == right.key
    }

    @usableFromInline
    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(view))
        hasher.combine(key)
    }
}

/// One cache of a store, as the others see it.
final class StoreView: Sendable {
    /// Is told when the memory drops one of the cache's entries for another cache's.
    private let evicted: @Sendable (StoreKey) -> Void

    init(evicted: @escaping @Sendable (StoreKey) -> Void) { self.evicted = evicted }

    func tellEviction(of key: StoreKey) { evicted(key) }
}
