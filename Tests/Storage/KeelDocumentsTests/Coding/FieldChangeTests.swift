import Foundation
import KeelDocuments
import Testing

@Suite("Field changes")
struct FieldChangeTests {
    @Test("Field changes are described as the calls that create them")
    func sugar() throws {
        let name = "Ada"
        let count = 3
        let changes: [FieldChange] = [
            .set("name", to: "Ada"), try .set("name", to: name),
            try .set("opened", to: Date(timeIntervalSince1970: 0)),
            .set("tags", to: ["a", 1]), .set("gone", to: .null), .remove("draft"),
            .increment("visits"), .increment("visits", by: 2), .increment("visits", by: count),
            .increment("rating", by: 0.5), .maximum("high", 10), .minimum("low", 1.5),
            .serverTimestamp("changed"), .arrayUnion("tags", ["x", 2]),
            try .arrayRemove("tags", [name]),
        ]
        #expect(changes[0] == FieldChange("name", .set("Ada")))
        #expect(changes[1] == changes[0])
        #expect(changes[2] == FieldChange("opened", .set(.timestamp(Timestamp(microseconds: 0)))))
        #expect(changes[3] == FieldChange("tags", .set(["a", 1])))
        #expect(changes[4] == FieldChange("gone", .set(.null)))
        #expect(changes[5] == FieldChange("draft", .remove))
        #expect(changes[6] == FieldChange("visits", .transform(.increment(1))))
        #expect(changes[8] == FieldChange("visits", .transform(.increment(3))))
        #expect(changes[9] == FieldChange("rating", .transform(.increment(0.5))))
        #expect(changes[13] == FieldChange("tags", .transform(.arrayUnion(["x", 2]))))
        #expect(changes[14] == FieldChange("tags", .transform(.arrayRemove(["Ada"]))))
    }
}
