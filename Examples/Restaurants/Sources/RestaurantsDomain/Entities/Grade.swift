public import Foundation

/// The result of an inspector's visit.
public struct Grade: Hashable, Sendable {
    /// The verdict.
    public enum Mark: String, Hashable, Sendable, CaseIterable {
        case a = "A"
        case b = "B"
        case c = "C"
        /// The verdict is contested.
        case pending = "P"
        /// The verdict waits for a second visit.
        case awaitingReinspection = "Z"
        case notYetGraded = "Not Yet Graded"
    }

    /// When the inspector was there.
    public let date: Date
    /// The verdict.
    public let mark: Mark
    /// The points for what was wrong: fewer are better, and a settled dispute can leave a credit.
    public let score: Int

    /// Creates a grade.
    public init(date: Date, mark: Mark, score: Int) {
        self.date = date
        self.mark = mark
        self.score = score
    }
}
