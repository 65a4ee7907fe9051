import KeelDocuments
import Testing

@testable import KeelStorageAdapting

/// Examples of https://firebase.google.com/docs/firestore/query-data/index-overview and
/// https://firebase.google.com/docs/firestore/query-data/indexing.
@Suite("Which queries Google's server answers")
struct CompositeIndexTests {
    private static let cities = DocumentQuery("cities")
    private static let group = DocumentQuery(group: "cities")
    private static let state = DocumentFilter.field("state", .equal, "CA")
    private static let country = DocumentFilter.field("country", .equal, "USA")
    private static let populous = DocumentFilter.field("population", .greater, 100_000)
    private static let western = DocumentFilter.field("regions", .arrayContains, "west_coast")

    private static func missing(
        _ query: DocumentQuery,
        _ indexes: [IndexDefinition] = [],
        _ aggregations: [Aggregation] = []
    ) -> String? {
        QueryPlanner(indexes).missingComposite(for: PreparedQuery(query), aggregations)?.name
    }

    @Test(
        "Single fields and equalities need no declared index",
        arguments: [
            cities, cities.where(state), cities.where(.and([state, country, western])),
            cities.where(populous), cities.where(populous).order(by: "population", .descending),
            cities.order(by: "name"), cities.order(by: "__name__", .descending),
            cities.where(state).order(by: "__name__", .descending),
            cities.where(.or([state, country])), cities.where(.field("a", .in, .array([1, 2]))),
            cities.where(.field("a", .notEqual, 1)), group,
            cities.where(state).order(by: "state", .descending), DocumentQuery.everything(),
        ]
    )
    func implied(_ query: DocumentQuery) { #expect(Self.missing(query) == nil) }

    @Test(
        "Orders beside other fields, several orders, and fields of groups need one",
        arguments: [
            (cities.where(.and([state, populous])), "cities(state+,population+)"),
            // The inequality orders the documents of the other alternative, too.
            (cities.where(.or([state, populous])), "cities(state+,population+)"),
            (
                cities.where(state).order(by: "population", .descending),
                "cities(state+,population-)"
            ),
            (cities.where(western).order(by: "name"), "cities(regions[],name+)"),
            (cities.order(by: "country").order(by: "state"), "cities(country+,state+)"),
            (
                cities.where(.and([populous, .field("area", .less, 5)])),
                "cities(area+,population+)"
            ),
            (group.where(state), "cities**(state+)"), (group.order(by: "name"), "cities**(name+)"),
            (
                cities.where(.or([populous, .and([country, populous])])),
                "cities(country+,population+)"
            ),
        ] as [(DocumentQuery, String)]
    )
    func demanded(_ query: DocumentQuery, _ expected: String) {
        #expect(Self.missing(query) == expected)
    }

    @Test("A declared index serves a query in either direction, and several are merged")
    func declared() {
        let query = Self.cities.where(Self.state).order(by: "population", .descending)
        let index = IndexDefinition("cities", [.ascending("state"), .ascending("population")])
        #expect(Self.missing(query, [index]) == nil)
        let other = IndexDefinition("towns", [.ascending("state"), .ascending("population")])
        #expect(Self.missing(query, [other]) != nil)
        let both = Self.cities.where(.and([Self.state, Self.country, Self.populous]))
        #expect(Self.missing(both, [index]) == "cities(country+,state+,population+)")
        let second = IndexDefinition("cities", [.ascending("country"), .ascending("population")])
        #expect(Self.missing(both, [index, second]) == nil)
        let mixed = Self.cities.order(by: "a").order(by: "b", .descending)
        let same = IndexDefinition("cities", [.ascending("a"), .ascending("b")])
        #expect(Self.missing(mixed, [same]) == "cities(a+,b-)")
        let ofGroup = IndexDefinition("cities", scope: .group, [.ascending("state")])
        #expect(Self.missing(Self.group.where(Self.state), [ofGroup]) == nil)
        #expect(Self.missing(Self.group.where(Self.state), [index]) != nil)
    }

    @Test("A sum with an equality needs both fields in an index, and a count does not")
    func aggregations() {
        let query = Self.cities.where(Self.state)
        #expect(Self.missing(query, [], [.count()]) == nil)
        #expect(Self.missing(query, [], [.sum("population")]) == "cities(state+,population+)")
        #expect(Self.missing(Self.cities, [], [.average("population")]) == nil)
    }
}
