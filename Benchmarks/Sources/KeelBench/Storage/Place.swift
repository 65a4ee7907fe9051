import Foundation
import KeelStorage

/// The document of the benchmarks: twelve fields, about 400 bytes.
struct Place: Codable, Identifiable, Sendable {
    var id: String
    var name: String
    var district: String
    var city: String
    var street: String
    var phone: String
    var cuisine: String
    var score: Int
    var rating: Double
    var isOpen: Bool
    var inspected: Date
    var note: String

    /// Creates the place of a number, which is always the same.
    init(_ number: Int) {
        var generator = Generator(seed: UInt64(number) &+ 1)
        id = Self.id(number)
        name = "Place number \(number)"
        district = Self.district(number)
        city = Self.city(number)
        street = "\(generator.next(upTo: 900)) \(Self.words[generator.next(upTo: 8)]) Street"
        phone = "+49 30 \(1_000_000 + generator.next(upTo: 8_999_999))"
        cuisine = Self.words[generator.next(upTo: 8)]
        score = generator.next(upTo: 1_000_000)
        rating = Double(generator.next(upTo: 500)) / 100
        isOpen = generator.next(upTo: 2) == 0
        inspected = Date(
            timeIntervalSince1970: Double(1_600_000_000 + generator.next(upTo: 100_000_000))
        )
        note = (0..<20).map { _ in Self.words[generator.next(upTo: 8)] }.joined(separator: " ")
    }

    /// One of ten values, each shared by every tenth place.
    static func district(_ number: Int) -> String { "district \(number % 10)" }

    /// One of 250 values.
    static func city(_ number: Int) -> String { "city \(number / 10 % 250)" }

    /// Returns the id of a number: 20 characters in no order, like those of `addDocument`.
    static func id(_ number: Int) -> String {
        var generator = Generator(seed: UInt64(number) &* 0x9E37_79B9 &+ 7)
        return String(
            decoding: (0..<20).map { _ in alphabet[generator.next(upTo: 62)] },
            as: UTF8.self
        )
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8
    )
    private static let words = [
        "pizza", "ramen", "bakery", "garden", "corner", "river", "diner", "market",
    ]
}
