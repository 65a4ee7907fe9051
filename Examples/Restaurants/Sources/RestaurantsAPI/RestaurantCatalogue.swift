public import Foundation

/// The restaurants of the service, from the lines of a JSON Lines file.
///
/// The file is read once. A line in the service's format is sent unchanged; only what is needed to find it is decoded.
/// A line of a city's inspections, `InspectedRestaurant`, is converted to that format when it is read.
public struct RestaurantCatalogue: Sendable {
    struct Entry: Sendable {
        let id: String
        /// The bytes of the response.
        let json: [UInt8]
        /// The searchable words.
        let words: Set<String>
    }

    /// A fingerprint that differs between catalogues with different contents.
    public let fingerprint: String

    let entries: [Entry]
    private let positions: [String: Int]

    /// The number of restaurants.
    public var count: Int { entries.count }

    /// Reads the catalogue of a file.
    ///
    /// - Throws: ``CatalogueError`` with the first line that is not a restaurant, or the error of reading the file.
    public init(contentsOf file: URL) throws {
        let bytes: Data
        do {
            bytes = try Data(contentsOf: file)
        } catch {
            let reason = "the file cannot be read: \(error.localizedDescription)"
            throw CatalogueError(file: file.relativePath, line: nil, reason: reason)
        }
        try self.init(Array(bytes), file: file.relativePath)
    }

    /// Reads a catalogue from the bytes of a file.
    ///
    /// - Parameters:
    ///   - bytes: JSON Lines; empty lines are ignored.
    ///   - file: The file's name, for errors.
    /// - Throws: ``CatalogueError`` with the first line that is not a restaurant.
    public init(_ bytes: [UInt8], file: String) throws(CatalogueError) {
        var entries: [Entry] = []
        var positions: [String: Int] = [:]
        var hash = FNV1a()
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.allSatisfy({ $0 <= 0x20 }) {
            do throws(LineFlaw) {
                let entry = try Entry(Array(line))
                if let first = positions.updateValue(entries.count, forKey: entry.id) {
                    throw LineFlaw("the id “\(entry.id)” is that of restaurant \(first + 1), too")
                }
                hash.add(line)
                entries.append(entry)
            } catch {
                throw CatalogueError(file: file, line: index + 1, reason: error.reason)
            }
        }
        self.entries = entries
        self.positions = positions
        fingerprint = hash.text
    }

    // MARK: Finding

    func entry(_ id: String) -> Entry? { positions[id].map { entries[$0] } }

    /// Returns a page of the entries, in the file's order; nil if the entry `id` is missing.
    func page(after id: String?, limit: Int) -> ArraySlice<Entry>? {
        guard let id else { return entries.prefix(limit) }
        guard let position = positions[id] else { return nil }
        return entries.dropFirst(position + 1).prefix(limit)
    }

    func search(_ text: String, limit: Int) -> [Entry] {
        let wanted = SearchWord.words(of: text)
        guard !wanted.isEmpty else { return [] }
        let found = entries.lazy.filter { entry in wanted.allSatisfy { $0.isIn(entry.words) } }
        return Array(found.prefix(limit))
    }
}

/// The reason why a file is not a catalogue.
public struct CatalogueError: Error, Hashable, Sendable {
    /// The file.
    public let file: String
    /// The line, counted from 1; nil for the file as a whole.
    public let line: Int?
    /// The problem.
    public let reason: String
}

extension CatalogueError: LocalizedError {
    public var errorDescription: String? {
        "\(file):\(line.map { "\($0):" } ?? "") \(reason)"
    }
    public var recoverySuggestion: String? {
        "Each line is one restaurant as a JSON object with at least an id and a name."
    }
}

/// A hash that is the same in every run, unlike Swift's.
private struct FNV1a {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }

    var text: String { String(state, radix: 16) }
}
