extension Cache {
    /// Forgets the value under a key, in memory and below.
    ///
    /// - Parameter key: What it is found by.
    /// - Throws: ``CacheError`` when the tier did not forget it: it is not found in this run of the
    ///   program, and may be found by the next.
    public func remove(_ key: Key) async throws(CacheError) {
        var id: UInt64?
        var failure: CacheError?
        var name: [UInt8]?
        if let lower {
            do throws(CacheError) {
                name = try lower.coding.name(of: key, in: lower.space)
            } catch {
                failure = error
            }
        }
        memory.remove(key) {
            if let name { id = lower?.queue.add(.remove(.keys([name]))) }
        }
        if let id, let error = await lower?.queue.finish(id) { failure = error }
        if let failure { throw failure }
    }

    /// Forgets all values of this cache, in memory and below.
    ///
    /// - Throws: ``CacheError`` when the tier did not forget them.
    public func removeAll() async throws(CacheError) {
        // First of all, so that no load that is under way writes after the removal. Then the removal
        // is queued, and last memory is emptied: whoever reads below from then on waits for it.
        memory.overtakeAll()
        let id = lower.map { $0.queue.add(.remove(.tag($0.spaceTag))) }
        memory.removeAll()
        if let id, let error = await lower?.queue.finish(id) { throw error }
    }

    /// Forgets all values that were stored with a tag, in memory and below.
    ///
    /// It takes the same time however many there are: an entry that is meant is dropped when it is
    /// met, and makes room like any other until then. In a ``CacheStore``, a tag concerns the
    /// entries of all its caches.
    ///
    /// - Parameter tag: The tag.
    /// - Throws: ``CacheError`` when the tier did not forget them.
    public func removeAll(tagged tag: String) async throws(CacheError) {
        var id: UInt64?
        board.remove(tag) { id = lower?.queue.add(.remove(.tag(tag))) }
        if let id, let error = await lower?.queue.finish(id) { throw error }
    }

    /// Drops entries whose time is over, or one of whose tags was removed, in memory and below.
    ///
    /// Nobody has to call it: such entries are not returned, and go when they are met or have to
    /// make room. This gives their memory back at once.
    ///
    /// - Throws: What the tier throws.
    public func removeExpired() async throws(CacheError) {
        let now = clock.now
        memory.sweep(at: now.microseconds, board)
        guard let queue = lower?.queue else { return }
        if let error = await queue.finish(queue.add(.remove(.expired(before: now)))) {
            throw error
        }
    }
}
