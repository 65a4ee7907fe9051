public import Foundation
public import KeelRepositories
internal import Testing

struct LocalDataSourceUnderTest<Element: Sendable & Equatable>: Sendable {
    let source: any LocalDataSource<Element>
    let subject: LocalDataSourceSubject<Element>

    func element(_ id: String, _ number: Int = 1) -> Element { subject.make(id, number) }

    /// Expects exactly these elements, in any order.
    func expect(
        _ elements: [Element],
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let found = try await source.findAll()
        #expect(Self.same(found, elements), sourceLocation: location)
    }

    /// Expects that each condition finds exactly the matching elements among these, which the source holds.
    func expectConditions(
        on elements: [Element],
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        for condition in subject.conditions {
            let expected = try elements.filter(condition.evaluate)
            let found = try await source.find(where: condition)
            #expect(Self.same(found, expected), "\(condition)", sourceLocation: location)
        }
    }

    private static func same(_ some: [Element], _ others: [Element]) -> Bool {
        some.count == others.count
            && some.allSatisfy { one in
                some.count(where: { $0 == one }) == others.count(where: { $0 == one })
            }
    }
}

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
