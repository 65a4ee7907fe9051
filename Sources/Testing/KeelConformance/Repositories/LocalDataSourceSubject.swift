public import Foundation
public import KeelRepositories

/// A factory of the data sources that checks open and of the elements that they store.
///
/// ```swift
/// let subject = LocalDataSourceSubject(
///     make: { id, number in Note(id: id, text: "note \(number)", stars: number % 5) },
///     conditions: [#Predicate { $0.stars >= 3 }],
///     open: { MyNotes(folder: temporaryFolder()) }
/// )
/// ```
public struct LocalDataSourceSubject<Element: Sendable & Equatable>: Sendable {
    let make: @Sendable (_ id: String, _ number: Int) -> Element
    let conditions: [Predicate<Element>]
    let open: @Sendable () async throws -> any LocalDataSource<Element>

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - make: Makes an element with an id. Elements with different numbers below 20 differ, and equal arguments
    ///     make equal elements.
    ///   - conditions: Conditions that select different elements: all kinds that the source pushes down to its
    ///     database, and some others.
    ///   - open: Opens an empty source.
    public init(
        make: @escaping @Sendable (_ id: String, _ number: Int) -> Element,
        conditions: [Predicate<Element>],
        open: @escaping @Sendable () async throws -> any LocalDataSource<Element>
    ) {
        self.make = make
        self.conditions = conditions
        self.open = open
    }
}
