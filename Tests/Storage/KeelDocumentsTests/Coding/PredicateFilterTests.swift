import Foundation
import KeelDocuments
import KeelTestSupport
import Testing

@Suite("Predicates as filters")
struct PredicateFilterTests {
    struct Address: Codable, Equatable {
        var city: String
        var zip: String?
    }

    enum Kind: String, Codable { case diner, cafe }

    struct Place: Codable {
        @DocumentID var id: String?
        var name: String
        var title = ""
        var stars: Int
        var rating: Double?
        var isOpen: Bool
        var tags: [String]
        var address: Address
        var branch: Address?
        var opened: Date
        var kind: Kind
        var shout: String { name.uppercased() }
    }

    private func filter(_ predicate: Predicate<Place>) throws -> DocumentFilter {
        try DocumentFilter(predicate)
    }

    @Test("Comparisons translate in either direction, with captured values")
    func comparisons() throws {
        let limit = 3
        let other = Address(city: "Rome")
        let date = Date(timeIntervalSince1970: 5)
        let kind = Kind.cafe
        #expect(try filter(#Predicate { $0.name == "x" }) == .equal("name", "x"))
        #expect(try filter(#Predicate { $0.stars != limit }) == .notEqual("stars", 3))
        #expect(try filter(#Predicate { $0.stars < limit + 1 }) == .less("stars", 4))
        #expect(try filter(#Predicate { $0.stars <= limit }) == .lessOrEqual("stars", 3))
        #expect(try filter(#Predicate { $0.stars > -limit }) == .greater("stars", -3))
        #expect(try filter(#Predicate { $0.stars >= limit }) == .greaterOrEqual("stars", 3))
        #expect(try filter(#Predicate { limit < $0.stars }) == .greater("stars", 3))
        #expect(try filter(#Predicate { limit >= $0.stars }) == .lessOrEqual("stars", 3))
        #expect(
            try filter(#Predicate { $0.address.city == other.city })
                == .equal("address.city", "Rome")
        )
        #expect(
            try filter(#Predicate { $0.branch?.city == "Rome" }) == .equal("branch.city", "Rome")
        )
        #expect(try filter(#Predicate { $0.rating! > 3.5 }) == .greater("rating", 3.5))
        #expect(
            try filter(#Predicate { $0.opened > date })
                == .greater("opened", .timestamp(Timestamp(microseconds: 5_000_000)))
        )
        #expect(try filter(#Predicate { $0.kind == kind }) == .equal("kind", "cafe"))
        #expect(
            try filter(#Predicate { $0.address == other }) == .equal("address", ["city": "Rome"])
        )
    }

    @Test("Booleans, nil, lists, arrays, ranges and prefixes translate")
    func special() throws {
        let names = ["a", "b"]
        #expect(try filter(#Predicate { $0.isOpen }) == .equal("isOpen", true))
        #expect(try filter(#Predicate { !$0.isOpen }) == .equal("isOpen", false))
        #expect(try filter(#Predicate { $0.rating == nil }) == .equal("rating", .null))
        #expect(try filter(#Predicate { $0.rating != nil }) == .notEqual("rating", .null))
        #expect(try filter(#Predicate { names.contains($0.name) }) == .in("name", ["a", "b"]))
        #expect(try filter(#Predicate { !names.contains($0.name) }) == .notIn("name", ["a", "b"]))
        #expect(
            try filter(#Predicate { $0.tags.contains("late") }) == .arrayContains("tags", "late")
        )
        #expect(
            try filter(#Predicate { (1...5).contains($0.stars) })
                == .and([.greaterOrEqual("stars", 1), .lessOrEqual("stars", 5)])
        )
        #expect(
            try filter(#Predicate { !(1..<5).contains($0.stars) })
                == .or([.less("stars", 1), .greaterOrEqual("stars", 5)])
        )
        #expect(
            try filter(#Predicate { $0.name.starts(with: "Mo") })
                == .and([.greaterOrEqual("name", "Mo"), .less("name", "Mp")])
        )
        #expect(
            try filter(#Predicate { $0.name.starts(with: "M\u{10FFFF}") })
                == .and([.greaterOrEqual("name", "M\u{10FFFF}"), .less("name", "N")])
        )
        #expect(
            try filter(#Predicate { $0.name.starts(with: "\u{D7FF}") })
                == .and([.greaterOrEqual("name", "\u{D7FF}"), .less("name", "\u{E000}")])
        )
    }

    @Test("And, or and not combine, by De Morgan's laws")
    func combinations() throws {
        #expect(
            try filter(#Predicate { $0.isOpen && $0.stars > 3 && $0.name == "x" })
                == .and([.equal("isOpen", true), .greater("stars", 3), .equal("name", "x")])
        )
        #expect(
            try filter(#Predicate { !($0.isOpen && $0.stars > 3) })
                == .or([.equal("isOpen", false), .lessOrEqual("stars", 3)])
        )
        #expect(
            try filter(#Predicate { !($0.isOpen || !($0.stars == 3)) })
                == .and([.equal("isOpen", false), .equal("stars", 3)])
        )
        #expect(
            try filter(#Predicate { $0.rating != nil && $0.rating != 3.5 })
                == .notEqual("rating", 3.5)
        )
        let ratings: [Double?] = [3.5, nil]
        #expect(
            try filter(#Predicate { $0.rating != nil && !ratings.contains($0.rating) })
                == .notIn("rating", [3.5])
        )
        let none: [Double?] = [nil]
        #expect(
            try filter(#Predicate { $0.rating != nil && !none.contains($0.rating) })
                == .notEqual("rating", .null)
        )
    }

    @Test("An expression without a counterpart is rejected by name with advice")
    func refusals() throws {
        let nan = Double.nan
        let cases: [(Predicate<Place>, String, String)] = [
            (#Predicate { $0.name.contains("zz") }, "CollectionContainsCollection", "matching(_:)"),
            (#Predicate { $0.stars + 1 > 3 }, "Arithmetic", "a separate field"),
            (#Predicate { ($0.rating ?? 0) > 3 }, "NilCoalesce", "the optional itself"),
            (
                #Predicate { $0.tags.contains { $0 == "x" } }, "SequenceContainsWhere",
                "contains(_:)"
            ),
            (#Predicate { !$0.tags.contains("x") }, "SequenceContains", "lack an element"),
            (#Predicate { $0.name == $0.title }, "“name” with “title”", "separate field"),
            (#Predicate { $0.rating != 3 }, "optional “rating”", "&& $0.rating != nil"),
            (
                #Predicate { $0.isOpen || $0.rating != 3 }, "optional “rating”",
                "&& $0.rating != nil"
            ),
            (#Predicate { !($0.rating == 3) }, "optional “rating”", "&& $0.rating != nil"),
            (#Predicate { _ in true }, "Value", "decide in Swift"),
            (
                #Predicate { $0.shout == "X" }, "the predicate’s key path has no field name",
                "PredicateFieldNaming"
            ),
            (
                #Predicate { $0.id == "X" }, "the predicate’s key path has no field name",
                "PredicateFieldNaming"
            ),
            (#Predicate { $0.rating == nan }, "NaN", "DocumentFilter.equal"),
            (#Predicate { $0.isOpen ? $0.stars > 3 : $0.stars > 4 }, "Conditional", "&& and ||"),
        ]
        for (predicate, name, advice) in cases {
            let error = expectError(StorageError.self, .unsupported) { try filter(predicate) }
            #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
            #expect(error?.message.contains(advice) == true, "\(error?.message ?? "")")
        }
    }

    @Test("A type can name its fields, and key strategies apply to property names")
    func names() throws {
        let query = try DocumentQuery("films").where(
            #Predicate<Film> { $0.id == "x" && $0.name == "y" }
        )
        #expect(query.filter == .and([.equal(.documentID, "x"), .equal("title", "y")]))
        let encoder = DocumentEncoder(.init(keys: .snakeCase))
        let snake = try DocumentQuery("films")
            .where(#Predicate<Film> { $0.name == "y" && $0.runTime > 90 }, encoder: encoder)
        #expect(snake.filter == .and([.equal("title", "y"), .greater("run_time", 90)]))
    }
}

private struct Film: Codable {
    enum CodingKeys: String, CodingKey {
        case id, runTime
        case name = "title"
    }
    @DocumentID var id: String?
    var name: String
    var runTime: Int
}

extension Film: PredicateFieldNaming {
    static var fieldNames: [PartialKeyPath<Film>: FieldPath] {
        [\.id: .documentID, \.name: "title"]
    }
}
