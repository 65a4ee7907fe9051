public import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Sample DTOs for tests and previews, from the service's JSON.
///
/// ```swift
/// extension RestaurantDTO {
///     static let sample = Fixture.value(of: RestaurantDTO.self, json: #"{"id": "42", "name": "Luigi"}"#)
/// }
/// ```
///
/// Load longer ones from files:
///
/// ```swift
/// let menu = try Fixture(Bundle.module.resourceURL).load("menu", as: MenuDTO.self)
/// ```
///
/// Samples are decoded like real responses.
public struct Fixture: Sendable {
    private let folder: URL?
    private let coding: JSONCoding

    /// Creates a source of fixtures.
    ///
    /// - Parameters:
    ///   - folder: The folder of the files; in a test target, `Bundle.module.resourceURL`.
    ///   - coding: The service's JSON conventions.
    public init(_ folder: URL?, coding: JSONCoding = .standard) {
        self.folder = folder
        self.coding = coding
    }

    /// Loads a file.
    ///
    /// - Parameters:
    ///   - name: The file's name in the folder, with or without `.json`.
    ///   - type: The type to decode.
    /// - Returns: The value.
    /// - Throws: ``FixtureError``, which names the file and the problem.
    public func load<Value: Decodable>(
        _ name: String,
        as type: Value.Type = Value.self
    ) throws(FixtureError) -> Value {
        let file = name.hasSuffix(".json") ? name : name + ".json"
        guard let folder else {
            throw FixtureError(name: file, reason: "The bundle has no resource folder.")
        }
        let data: Data
        do {
            data = try Data(contentsOf: folder.appending(path: file))
        } catch {
            throw FixtureError(name: file, reason: "There is no such file in \(folder.path()).")
        }
        return try Self.decode(Array(data), as: type, name: file, coding: coding)
    }

    /// Decodes a JSON text.
    ///
    /// - Throws: ``FixtureError``, which describes the problem.
    public static func decode<Value: Decodable>(
        _ json: String,
        as type: Value.Type = Value.self,
        coding: JSONCoding = .standard
    ) throws(FixtureError) -> Value {
        try decode(Array(json.utf8), as: type, name: "\(Value.self)", coding: coding)
    }

    /// Decodes a JSON literal, and stops the program if it does not fit.
    public static func value<Value: Decodable>(
        of type: Value.Type = Value.self,
        json: String,
        coding: JSONCoding = .standard
    ) -> Value {
        do throws(FixtureError) {
            return try decode(json, as: type, coding: coding)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    private static func decode<Value: Decodable>(
        _ bytes: [UInt8],
        as type: Value.Type,
        name: String,
        coding: JSONCoding
    ) throws(FixtureError) -> Value {
        do {
            return try coding.decode(type, from: bytes)
        } catch {
            throw FixtureError(name: name, reason: DecodingFailure(error).explanation)
        }
    }
}

/// An error in loading a fixture.
public struct FixtureError: LocalizedError, Hashable, CustomStringConvertible {
    /// The file, or the type to decode.
    public let name: String

    /// A description of the flaw of the fixture.
    public let reason: String

    public var description: String { "The fixture “\(name)” cannot be used. \(reason)" }
    public var errorDescription: String? { description }
    public var recoverySuggestion: String? {
        "Correct the fixture, or the type that it is decoded as."
    }
    public var failureReason: String? { reason }
    public var helpAnchor: String? { nil }
}
