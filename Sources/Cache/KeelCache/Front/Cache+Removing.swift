extension Cache {
    /// Removes the value for a key from memory and the tier.
    ///
    /// - Parameter key: The key of the value.
    /// - Throws: ``CacheError`` if the tier failed or the key could not be encoded. The value has left memory, but the
    ///   tier can return it after a restart.
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

    /// Removes all values of this cache from memory and the tier.
    ///
    /// - Throws: ``CacheError`` if the tier failed.
    public func removeAll() async throws(CacheError) {
        // The order matters. First, no load under way may write after the removal. Then the removal
        // is queued, and memory is emptied last: later reads of the tier wait for the removal.
        memory.overtakeAll()
        let id = lower.map { $0.queue.add(.remove(.tag($0.spaceTag))) }
        memory.removeAll()
        if let id, let error = await lower?.queue.finish(id) { throw error }
    }

    /// Removes all values stored with a tag from memory and the tier, in constant time.
    ///
    /// They are dropped at their next access, or evicted. In a ``CacheStore``, a tag applies to the entries of all
    /// caches.
    ///
    /// - Throws: ``CacheError`` if the tier failed.
    public func removeAll(tagged tag: String) async throws(CacheError) {
        var id: UInt64?
        board.remove(tag) { id = lower?.queue.add(.remove(.tag(tag))) }
        if let id, let error = await lower?.queue.finish(id) { throw error }
    }

    /// Drops expired entries from memory and the tier, and entries with removed tags from memory.
    ///
    /// Calling this method is optional, because such entries are never returned. It frees their space at once.
    ///
    /// - Throws: ``CacheError`` if the tier failed.
    public func removeExpired() async throws(CacheError) {
        let now = clock.now
        memory.sweep(at: now.microseconds, board)
        guard let queue = lower?.queue else { return }
        if let error = await queue.finish(queue.add(.remove(.expired(by: now)))) {
            throw error
        }
    }
}
