internal import KeelCore

extension Journal {
    /// Opens a consumer, creating it if needed.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 letters, digits, “-” and “_”; not “journal”.
    ///   - start: The position at which a new consumer starts.
    /// - Returns: The consumer, the only open one of its name.
    /// - Throws: ``JournalError``: ``JournalError/Code/consumerInUse`` if it is already open,
    ///   ``JournalError/Code/invalidArgument`` for another name.
    public func consumer(
        _ name: String,
        from start: JournalConsumer.Start = .oldest
    ) throws(JournalError) -> JournalConsumer {
        try JournalConsumer(name, of: self, from: start)
    }

    /// Returns the names of all consumers, in order.
    ///
    /// - Throws: ``JournalError`` if the folder cannot be read.
    public func consumerNames() throws(JournalError) -> [String] {
        try JournalError.mapped("Looking for consumers") { () throws(FileSystemError) in
            try folder.consumers()
        }
    }

    func segments() throws(JournalError) -> [UInt64] {
        try JournalError.mapped("Looking for records") { () throws(FileSystemError) in
            try folder.segments()
        }
    }

    /// Deletes a consumer, so that it no longer retains records; one opened later under the same name is new.
    ///
    /// - Parameter name: The consumer's name; a name that does not exist is ignored.
    /// - Throws: ``JournalError``, with ``JournalError/Code/consumerInUse`` while it is open.
    public func removeConsumer(_ name: String) throws(JournalError) {
        guard try consumerNames().contains(name) else { return }
        do throws(FileSystemError) {
            let lock = try folder.files.lock(folder.path(of: name + ".lock"))
            try withExtendedLifetime(lock) { () throws(FileSystemError) in
                try folder.locked { () throws(FileSystemError) in
                    // Counts first: after a crash in between, the cursor still shows the consumer,
                    // and the next call deletes it.
                    for suffix in [JournalFolder.lostSuffix, JournalFolder.cursorSuffix]
                    where try folder.files.size(of: folder.path(of: name + suffix)) != nil {
                        try folder.files.remove(folder.path(of: name + suffix))
                    }
                    try Retention(folder, configuration, now: configuration.now())
                        .removeAcknowledged()
                }
            }
        } catch {
            guard error.kind != .busy else {
                throw JournalError(
                    .consumerInUse,
                    "The consumer “\(name)” is open and cannot be removed",
                    cause: error
                )
            }
            throw JournalError(error, "Removing a consumer")
        }
    }
}
