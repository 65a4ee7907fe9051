import Foundation
import KeelStorage
import KeelStorageFirestore
import KeelTestSupport
import Testing

/// A case of the public vectors: a call and the expected request or error.
struct FirestoreVector: Sendable, CustomTestStringConvertible {
    let file: String
    /// The call: set, update, updatePaths, create, delete, get, query or listen.
    let call: String
    /// The call's arguments and expectation.
    let content: FirestoreJSON

    var testDescription: String { file }
    var isError: Bool { content["isError"] == .boolean(true) }

    /// The folder of the vectors, which are not part of this repository.
    static let folder = URL.conformance.appendingPathComponent("firestore-conformance")

    /// All cases in the order of their files; empty if the folder is missing.
    static let all: [FirestoreVector] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted().flatMap {
            name -> [FirestoreVector] in
            guard let data = try? Data(contentsOf: folder.appendingPathComponent(name)),
                let json = try? FirestoreJSON(parsing: data),
                case .array(let tests)? = json["tests"]
            else { return [FirestoreVector(file: name, call: "unreadable", content: .null)] }
            let file = String(name.dropLast(".json".count))
            return tests.compactMap { test in
                let call = test.members?.first { !["description", "comment"].contains($0.name) }
                return call.map { FirestoreVector(file: file, call: $0.name, content: $0.value) }
            }
        }
    }()
}

/// The values of the vectors' `jsonData`: JSON in which some strings and lists are sentinels.
indirect enum VectorValue: Decodable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([VectorValue])
    /// Names and values, sorted by name.
    case object([(name: String, value: VectorValue)])
    case delete
    case serverTimestamp
    case arrayUnion([VectorValue])
    case arrayRemove([VectorValue])

    init(json: String) throws {
        self = try JSONDecoder().decode(VectorValue.self, from: Data(json.utf8))
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = Self.sentinel(named: value) ?? .string(value)
        } else if let values = try? container.decode([VectorValue].self) {
            self = Self.sentinel(in: values) ?? .array(values)
        } else {
            let members = try container.decode([String: VectorValue].self)
            self = .object(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        }
    }

    private static func sentinel(named name: String) -> VectorValue? {
        switch name {
        case "Delete": .delete
        case "ServerTimestamp": .serverTimestamp
        case "NaN": .double(.nan)
        default: nil
        }
    }

    private static func sentinel(in values: [VectorValue]) -> VectorValue? {
        guard case .string(let name)? = values.first else { return nil }
        let rest = Array(values.dropFirst())
        return switch name {
        case "ArrayUnion": .arrayUnion(rest)
        case "ArrayRemove": .arrayRemove(rest)
        default: nil
        }
    }
}

extension FieldPath {
    /// Creates a field path from the notation of the vectors: `{"field": ["a", "b"]}`.
    init(vector json: FirestoreJSON?) {
        guard case .array(let names)? = json?["field"] else {
            self.init(names: [])
            return
        }
        self.init(names: names.map { if case .string(let name) = $0 { name } else { "" } })
    }
}
