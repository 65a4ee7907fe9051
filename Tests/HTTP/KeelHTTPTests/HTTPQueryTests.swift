import Foundation
import KeelHTTP
import Testing

@Suite("Typed queries")
struct HTTPQueryTests {
    private enum Sorting: String {
        case name
        case newest = "-created"
    }
    private struct Page: RawRepresentable { var rawValue: Int }

    @Test("Lists are repeated, comma-separated or bracketed")
    func appendsLists() {
        var query = HTTPQuery()
        query.append("a", [1, 2])
        query.append("b", ["x", "y,z"], style: .commaSeparated)
        query.append("c", ["p", "q"], style: .bracketed)
        query.append("d", [String]())
        #expect(query.encoded == "a=1&a=2&b=x%2Cy%2Cz&c%5B%5D=p&c%5B%5D=q")
    }

    @Test("Enumerations and typed identifiers are written as their raw values")
    func appendsRawValues() {
        var query = HTTPQuery()
        query.append("sort", Sorting.newest)
        query.append("page", Page(rawValue: 3))
        query.append("none", Sorting?.none)
        query.append("all", [Sorting.name, .newest], style: .commaSeparated)
        #expect(query.encoded == "sort=-created&page=3&all=name%2C-created")
    }

    @Test("Dates can be written in every JSON date style")
    func appendsDates() {
        let date = Date(timeIntervalSince1970: 1_738_310_400.25)
        var query = HTTPQuery()
        query.append("a", date)
        query.append("b", date, as: .iso8601WithFraction)
        query.append("c", date, as: .secondsSince1970)
        query.append("d", date, as: .millisecondsSince1970)
        query.append("e", Date?.none)
        #expect(
            query.items.map(\.value) == [
                "2025-01-31T08:00:00Z", "2025-01-31T08:00:00.250Z", "1738310400", "1738310400250",
            ]
        )
    }

    @Test("A UUID is written in uppercase")
    func appendsUUIDs() throws {
        let id = try #require(UUID(uuidString: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"))
        var query = HTTPQuery()
        query.append("id", id)
        #expect(query.encoded == "id=E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
    }
}
