/// What a refresh has changed on this device.
public struct RefreshReport: Hashable, Sendable {
    /// An entry of the source that could not be taken.
    public struct Rejection: Hashable, Sendable {
        /// The entry's id, as far as it could be read.
        public let id: String?
        /// What was wrong with the entry.
        public let reason: String

        /// Creates a rejection.
        public init(id: String?, reason: String) {
            self.id = id
            self.reason = reason
        }
    }

    /// How many restaurants are new.
    public let added: Int
    /// How many restaurants have changed.
    public let updated: Int
    /// How many restaurants the source no longer has.
    public let removed: Int
    /// How many restaurants are as they were.
    public let unchanged: Int
    /// The entries that could not be taken; a restaurant known from before stays as it was.
    public let rejections: [Rejection]

    /// Creates a report.
    public init(
        added: Int,
        updated: Int,
        removed: Int,
        unchanged: Int,
        rejections: [Rejection] = []
    ) {
        self.added = added
        self.updated = updated
        self.removed = removed
        self.unchanged = unchanged
        self.rejections = rejections
    }
}
