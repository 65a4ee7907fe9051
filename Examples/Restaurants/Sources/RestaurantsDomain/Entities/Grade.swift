public import Foundation

/// The result of an inspection.
public struct Grade: Hashable, Sendable {
    /// The verdict.
    public enum Mark: String, Hashable, Sendable, CaseIterable {
        case a = "A"
        case b = "B"
        case c = "C"
        /// The grade is contested.
        case pending = "P"
        /// The grade awaits a second inspection.
        case awaitingReinspection = "Z"
        case notYetGraded = "Not Yet Graded"
    }

    /// The date of the inspection.
    public let date: Date
    /// The verdict.
    public let mark: Mark
    /// The points for violations; fewer are better, and a settled dispute can make them negative.
    public let score: Int

    /// Creates a grade.
    public init(date: Date, mark: Mark, score: Int) {
        self.date = date
        self.mark = mark
        self.score = score
    }
}
