internal import Foundation
internal import KeelRepositories
internal import Testing

/// An open source with the operations of checks.
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

extension Sequence {
    fileprivate func count(where test: (Element) -> Bool) -> Int {
        reduce(into: 0) { if test($1) { $0 += 1 } }
    }
}
