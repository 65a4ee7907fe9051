/// The key of an entry in the shared memory of a store.
///
/// `@unchecked`, because `AnyHashable` erases sendability; only `Sendable` keys are put into it.
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

/// One cache of a store, as seen by the others.
final class StoreView: Sendable {
    /// Called when memory drops one of the cache's entries to make room for another cache.
    private let evicted: @Sendable (StoreKey) -> Void

    init(evicted: @escaping @Sendable (StoreKey) -> Void) { self.evicted = evicted }

    func tellEviction(of key: StoreKey) { evicted(key) }
}
