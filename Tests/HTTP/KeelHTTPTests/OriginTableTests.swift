import Foundation
import KeelHTTP
import KeelTestKit
import Testing

@Suite("The table of origins")
struct OriginTableTests {
    private func origin(_ number: Int) throws -> HTTPOrigin {
        let url = try #require(URL(string: "https://h\(number).example"))
        return try #require(HTTPOrigin(url))
    }

    @Test("A full table evicts only the least recently used origins")
    func forgetsTheOldest() throws {
        let table = OriginTable(0, limit: 64)
        for number in 0..<64 { table.with(try origin(number)) { $0 = number + 1 } }
        // Recently used origins are not evicted.
        for number in 0..<8 { table.with(try origin(number)) { _ in } }
        table.with(try origin(64)) { $0 = 65 }
        // Four origins are evicted: the first of those that were not used again.
        for number in [64] + Array(0..<8) + Array(12..<64) {
            #expect(table.with(try origin(number)) { $0 } == number + 1)
        }
        for number in 8..<12 { #expect(table.with(try origin(number)) { $0 } == 0) }
    }

    @Test("An origin in use is not evicted, however many others come", arguments: [1, 2, 16, 1000])
    func keepsWhatIsUsed(limit: Int) throws {
        let table = OriginTable(0, limit: limit)
        let home = try origin(-1)
        for number in 0..<3000 {
            table.with(try origin(number)) { $0 += 1 }
            if limit > 1 { table.with(home) { $0 += 1 } }
        }
        #expect(table.with(home) { $0 } == (limit > 1 ? 3000 : 0))
    }
}
