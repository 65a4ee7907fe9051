import Foundation
import KeelHTTP
import KeelRepositories
import KeelTestSupport
import Testing

@Suite("Mapping")
struct MappingTests {
    private let good = RestaurantDTO.sample(1)

    @Test("A DTO and a domain value are converted into each other")
    func mapsBothWays() throws {
        var dto = good
        dto.website = "https://example.com/a?b=c"
        let restaurant = try dto.toDomain()
        #expect(restaurant.cuisine == .italian)
        #expect(RestaurantDTO(domain: restaurant) == dto)
    }

    @Test("An invalid value is an error with its field, never a random id or today's date")
    func blamesFields() {
        let cases: [(String, MappingError.Code, (inout RestaurantDTO) -> Void)] = [
            ("id", .missing, { $0.id = nil }),
            ("id", .malformed, { $0.id = "42" }),
            ("name", .malformed, { $0.name = "  \n" }),
            ("cuisine", .unknownValue, { $0.cuisine = "martian" }),
            ("opened", .malformed, { $0.opened = "yesterday" }),
            ("opened", .missing, { $0.opened = nil }),
            ("website", .malformed, { $0.website = "not a url" }),
            ("website", .malformed, { $0.website = "/relative" }),
        ]
        for (field, code, change) in cases {
            var dto = good
            change(&dto)
            let error = expectError(MappingError.self, code) { try dto.toDomain() }
            #expect(error?.field == field)
            #expect(error?.message.contains(field) == true)
            #expect(error?.message.contains("martian") == false, "a message has no contents")
        }
    }

    @Test(
        "Dates are read in the formats that services use",
        arguments: [
            ("2024-02-29T12:00:00Z", 1_709_208_000.0),
            ("2024-02-29T12:00:00.250Z", 1_709_208_000.25),
            ("2024-02-29T13:00:00+01:00", 1_709_208_000), ("2024-02-29 12:00:00Z", 1_709_208_000),
        ]
    )
    func readsDates(text: String, seconds: Double) throws {
        let date = try FieldMapper().date(text, "date")
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.001)
    }

    @Test(
        "Invalid dates are rejected",
        arguments: ["", "2023-02-29T12:00:00Z", "2024-02-29", "12:00", "2024-02-29T25:00:00Z"]
    )
    func refusesDates(text: String) {
        #expect(throws: MappingError.self) { try FieldMapper().date(text, "date") }
    }

    private struct Line: DomainConvertible {
        var count: Int?
        func toDomain() throws(MappingError) -> Int {
            try FieldMapper().number(count, "count", in: 1...9)
        }
    }

    private struct Order: DomainConvertible {
        var lines: [Line]?
        var gift: Line?
        func toDomain() throws(MappingError) -> [Int] {
            let fields = FieldMapper(of: "order 7")
            return try fields.list(lines, "lines")
                + (try fields.optional.nested(gift, "gift").map { [$0] } ?? [])
        }
    }

    @Test("A nested field is named with its path")
    func namesThePath() throws {
        #expect(try Order(lines: [Line(count: 1)], gift: nil).toDomain() == [1])
        let deep = expectError(MappingError.self, .outOfRange) {
            try Order(lines: [Line(count: 1), Line(count: 10)], gift: nil).toDomain()
        }
        #expect(deep?.field == "lines[1].count")
        #expect(deep?.entity == "order 7")
        let gift = #expect(throws: MappingError.self) {
            try Order(lines: [], gift: Line(count: nil)).toDomain()
        }
        #expect(gift?.field == "gift.count")
        let list = #expect(throws: MappingError.self) {
            try [Order(lines: []), Order(lines: nil)].toDomain()
        }
        #expect(list?.field == "[1].lines")
        let inline = #expect(throws: MappingError.self) {
            try FieldMapper().list(["1", "x"], "numbers") { text, inner throws(MappingError) in
                try inner.value(text, "value", expecting: "a number") { Int($0) }
            }
        }
        #expect(inline?.field == "numbers[1].value")
    }

    @Test("A domain error is kept as the cause")
    func keepsCauses() {
        struct TooMany: Error {}
        let error = expectError(MappingError.self, .refused) {
            try FieldMapper(of: "7").value(6, "stars") { _ -> Int? in throw TooMany() }
        }
        #expect(error?.cause is TooMany)
    }

    @Test("A lossy list keeps valid elements and reports the rest with index and reason")
    func mapsLossyLists() throws {
        let json = """
            [{"id": "\(RestaurantDTO.uuid(1))", "name": "A", "cuisine": "thai",
              "opened": "2020-01-01T00:00:00Z"},
             {"id": 7}, {"id": "x"}, 5,
             {"id": "\(RestaurantDTO.uuid(2))", "name": "B", "cuisine": "thai",
              "opened": "2020-01-01T00:00:00Z"}]
            """
        let list = try Fixture.decode(json, as: LossyList<RestaurantDTO>.self)
        let mapped = list.toDomain()
        #expect(mapped.elements.map(\.name) == ["A", "B"])
        #expect(mapped.dropped.map(\.index) == [1, 2, 3])
        #expect(mapped.dropped[1].reason.contains("UUID"))
        #expect([good, RestaurantDTO()].toDomainDroppingFailures().dropped.map(\.index) == [1])
    }

    @Test("The error for an invalid fixture names the fixture and the reason")
    func explainsFixtures() throws {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(#"{"name": 7}"#.utf8).write(to: folder.appending(path: "bad.json"))
        try Data(#"{"name": "A"}"#.utf8).write(to: folder.appending(path: "good.json"))
        let fixtures = Fixture(folder)
        #expect(try fixtures.load("good", as: RestaurantDTO.self).name == "A")
        let bad = #expect(throws: FixtureError.self) {
            try fixtures.load("bad.json", as: RestaurantDTO.self)
        }
        #expect(bad?.description.contains("bad.json") == true)
        #expect(bad?.reason.contains("name") == true)
        let missing = #expect(throws: FixtureError.self) {
            try fixtures.load("none", as: RestaurantDTO.self)
        }
        #expect(missing?.reason.contains("no such file") == true)
        #expect(throws: FixtureError.self) { try Fixture(nil).load("good", as: RestaurantDTO.self) }
    }
}
