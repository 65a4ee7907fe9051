internal import KeelCore

extension Journal {
    /// Opens a consumer, or makes one.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 letters, digits, “-” and “_”.
    ///   - start: Where a consumer of a new name begins.
    /// - Returns: The consumer, which is the only one of its name.
    /// - Throws: ``JournalError``, with ``JournalError/Code/consumerInUse`` if there is another.
    public func consumer(
        _ name: String,
        from start: JournalConsumer.Start = .oldest
    ) throws(JournalError) -> JournalConsumer {
        try JournalConsumer(name, of: self, from: start)
    }

    /// The names of all consumers that ever were and were not forgotten, in order.
    ///
    /// - Returns: The names.
    /// - Throws: ``JournalError``.
    public func consumerNames() throws(JournalError) -> [String] {
        do throws(FileSystemError) {
            return try folder.consumers()
        } catch {
            throw JournalError(error, "Looking for consumers")
        }
    }

    /// Forgets a consumer, so that it holds no record any more.
    ///
    /// A consumer of the same name that is opened later is a new one.
    ///
    /// - Parameter name: The consumer's name; one that does not exist is fine.
    /// - Throws: ``JournalError``, with ``JournalError/Code/consumerInUse`` while it is open.
    public func forgetConsumer(_ name: String) throws(JournalError) {
        guard try consumerNames().contains(name) else { return }
        do throws(FileSystemError) {
            let lock = try folder.files.lock(folder.path(of: name + ".lock"))
            try withExtendedLifetime(lock) { () throws(FileSystemError) in
                try folder.locked { () throws(FileSystemError) in
                    // The counts first: a cursor without them is still a consumer, and is forgotten
                    // by the next call.
                    for suffix in [JournalFolder.lostSuffix, JournalFolder.cursorSuffix]
                    where try folder.files.size(of: folder.path(of: name + suffix)) != nil {
                        try folder.files.remove(folder.path(of: name + suffix))
                    }
                    try Retention(folder, configuration, now: configuration.now())
                        .removeSettled()
                }
            }
        } catch {
            guard error.kind != .busy else {
                throw JournalError(
                    .consumerInUse,
                    "The consumer “\(name)” is open and cannot be forgotten",
                    cause: error
                )
            }
            throw JournalError(error, "Forgetting a consumer")
        }
    }
}
