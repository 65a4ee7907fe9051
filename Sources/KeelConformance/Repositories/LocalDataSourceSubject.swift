public import Foundation
public import KeelRepositories

/// How checks open the data source that they are about, and what they keep in it.
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
    ///   - make: Makes an element with an id. Elements with two numbers below 20 differ, and the
    ///     same arguments make equal ones.
    ///   - conditions: Conditions that tell such elements apart, of each kind that the source hands
    ///     down to its database, and some of the others.
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
