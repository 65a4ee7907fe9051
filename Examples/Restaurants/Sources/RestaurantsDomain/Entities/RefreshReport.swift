/// The changes of a refresh on this device.
public struct RefreshReport: Hashable, Sendable {
    /// An entry of the source that was rejected.
    public struct Rejection: Hashable, Sendable {
        /// The entry's id, if readable.
        public let id: String?
        /// The problem.
        public let reason: String

        /// Creates a rejection.
        public init(id: String?, reason: String) {
            self.id = id
            self.reason = reason
        }
    }

    /// The number of new restaurants.
    public let added: Int
    /// The number of changed restaurants.
    public let updated: Int
    /// The number of restaurants that the source no longer has.
    public let removed: Int
    /// The number of unchanged restaurants.
    public let unchanged: Int
    /// The rejected entries; previously known restaurants among them stay unchanged.
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
