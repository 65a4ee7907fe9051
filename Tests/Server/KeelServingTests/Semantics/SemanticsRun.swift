import Foundation
import HTTPTypes
import KeelCore
import KeelStorageFirestore

/// Sends the requests of a row to a server, and compares the answers.
struct SemanticsRun {
    /// A difference from the row.
    struct Difference: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = String(description.prefix(2000)) }
    }

    private static let mostWrites = 400

    /// Sends a request to the server: method, path and body.
    typealias Sending =
        @Sendable (HTTPRequest.Method, String, [UInt8]?) async throws -> Served.Answer

    let row: SemanticsRow
    private let database: String
    private let sending: Sending
    private var comparison = SemanticsComparison()
    private var texts: [String: String] = [:]

    /// Creates a run against an empty database of a server.
    init(_ row: SemanticsRow, database: String = Served.database, sending: @escaping Sending) {
        self.row = row
        self.database = database
        self.sending = sending
    }

    mutating func run() async throws {
        try await createDocuments()
        if let query = row.json["query"] {
            try await runQuery(query)
        } else if let aggregation = row.json["aggregation"] {
            try await runAggregation(aggregation)
        } else if let writes = row.json["writes"] {
            try await runWrites(writes)
        } else {
            for (position, call) in (row.json["calls"]?.elements ?? []).enumerated() {
                do {
                    try await run(call)
                } catch {
                    throw Difference("call \(position + 1) (\(call["path"]?.text ?? "")): \(error)")
                }
            }
        }
        try await checkDocuments(row.expected["documents"])
    }

    // MARK: Requests

    private func post(_ path: String, _ body: FirestoreJSON) async throws -> Served.Answer {
        try await send("POST", path, body)
    }

    private func send(
        _ method: String,
        _ path: String,
        _ body: FirestoreJSON?
    ) async throws -> Served.Answer {
        let parts = try fill(path).split(separator: "?", maxSplits: 1)
        var allowed = CharacterSet(charactersIn: "/:()@-._~")
        allowed.formUnion(CharacterSet(charactersIn: "0"..."9"))
        allowed.formUnion(CharacterSet(charactersIn: "A"..."Z"))
        allowed.formUnion(CharacterSet(charactersIn: "a"..."z"))
        let place = parts[0].addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        var bytes: [UInt8]?
        if let body { bytes = Self.bytes(of: body) }
        if body == nil, method == "POST" || method == "PATCH" { bytes = Array("{}".utf8) }
        return try await sending(
            HTTPRequest.Method(method) ?? .post,
            "/v1/" + place + (parts.count > 1 ? "?" + parts[1] : ""),
            bytes
        )
    }

    private static func bytes(of json: FirestoreJSON) -> [UInt8] {
        var bytes: [UInt8] = []
        json.append(to: &bytes)
        return bytes
    }

    private static func text(of json: FirestoreJSON) -> String {
        String(decoding: bytes(of: json), as: UTF8.self)
    }

    private func commit(_ writes: [FirestoreJSON]) async throws -> Served.Answer {
        try await post("{database}/documents:commit", ["writes": .array(writes)])
    }

    private func createDocuments() async throws {
        var documents = row.json["documents"] ?? [:]
        if let path = documents["path"]?.text, let range = documents["each"]?.elements {
            let low = Int(range[0].wholeNumber ?? 0)
            let high = Int(range[1].wholeNumber ?? 0)
            let fields = documents["fields"] ?? [:]
            documents = .object(
                (low..<high).map { number in
                    FirestoreJSON.Member(
                        path.replacing("{i}", with: "\(number)"),
                        Self.counted(fields, number)
                    )
                }
            )
        }
        var writes: [FirestoreJSON] = []
        for member in documents.members ?? [] {
            let name = FirestoreJSON.string("{documents}/\(member.name)")
            writes.append(try fill(["update": ["name": name, "fields": member.value]]))
        }
        let batches = stride(from: 0, to: writes.count, by: Self.mostWrites).map {
            Array(writes[$0..<min($0 + Self.mostWrites, writes.count)])
        }
        for batch in batches {
            let answer = try await commit(batch)
            if let error = Self.error(of: answer) {
                throw Difference("documents are refused: \(error) \(Self.text(of: answer.json))")
            }
        }
        for write in row.json["before"]?.elements ?? [] {
            let answer = try await commit([try fill(write)])
            if let error = Self.error(of: answer) {
                throw Difference("a write before is refused: \(error)")
            }
        }
    }

    private mutating func runQuery(_ query: FirestoreJSON) async throws {
        let parent = query["parent"]?.text.map { $0.isEmpty ? "" : "/\($0)" } ?? ""
        let body = try fill(query["structuredQuery"] ?? .null)
        let answer = try await post("{documents}\(parent):runQuery", ["structuredQuery": body])
        guard try !isExpectedError(answer, row.expected) else { return }
        let elements = answer.json.elements ?? []
        let found = elements.compactMap { $0["document"] }
        try checkNames(found, row.expected)
        if let count = row.expected["count"]?.wholeNumber, Int(count) != found.count {
            throw Difference("wanted \(count) documents, got \(found.count)")
        }
        for member in row.expected["fields"]?.members ?? [] {
            let name = try fill("{documents}/\(member.name)")
            let document = found.first { $0["name"]?.text == name }
            let wanted = try fill(member.value)
            guard let document, comparison.sameFields(wanted, document["fields"]) else {
                throw Difference("fields of \(member.name): \(Self.text(of: document ?? .null))")
            }
        }
        if let wanted = row.expected["skippedResults"]?.wholeNumber {
            let skipped = elements.reduce(0) { $0 + ($1["skippedResults"]?.wholeNumber ?? 0) }
            guard skipped == wanted else {
                throw Difference("wanted skippedResults \(wanted), got \(skipped)")
            }
        }
    }

    private mutating func runAggregation(_ query: FirestoreJSON) async throws {
        let parent = query["parent"]?.text.map { $0.isEmpty ? "" : "/\($0)" } ?? ""
        let body = try fill(query["structuredAggregationQuery"] ?? .null)
        let answer = try await post(
            "{documents}\(parent):runAggregationQuery",
            ["structuredAggregationQuery": body]
        )
        guard try !isExpectedError(answer, row.expected) else { return }
        try checkAggregate(answer, row.expected)
    }

    private mutating func checkAggregate(
        _ answer: Served.Answer,
        _ expected: FirestoreJSON
    ) throws {
        let results = (answer.json.elements ?? []).compactMap { $0["result"] }
        let wanted = try fill(expected["aggregateFields"] ?? [:])
        guard results.count == 1, comparison.sameFields(wanted, results[0]["aggregateFields"])
        else {
            throw Difference("wanted \(Self.text(of: wanted)), got \(Self.text(of: answer.json))")
        }
    }

    private mutating func runWrites(_ writes: FirestoreJSON) async throws {
        let answer = try await commit(try fill(writes).elements ?? [])
        guard try !isExpectedError(answer, row.expected),
            let wanted = row.expected["transformResults"]
        else { return }
        let lists = try fill(wanted).elements ?? []
        let got = (answer.json["writeResults"]?.elements ?? [])
            .map { $0["transformResults"]?.elements ?? [] }
        var areSame = lists.count == got.count
        for (one, other) in zip(lists, got) where !comparison.same(one.elements ?? [], other) {
            areSame = false
        }
        guard areSame else { throw Difference("transformResults: \(Self.text(of: answer.json))") }
    }

    private mutating func run(_ call: FirestoreJSON) async throws {
        let body = try call["body"].map(fill)
        let answer = try await send(call["method"]?.text ?? "POST", call["path"]?.text ?? "", body)
        let expected = call["expect"] ?? [:]
        guard try !isExpectedError(answer, expected) else { return }
        for member in call["bind"]?.members ?? [] {
            var value = answer.json
            for part in (member.value.text ?? "").split(separator: "/") {
                let position = Int(part)
                let next = value.elements.flatMap { list in
                    position.flatMap { $0 < list.count ? list[$0] : nil }
                }
                guard let next = next ?? value[String(part)] else {
                    throw Difference("no \(part) in \(Self.text(of: answer.json))")
                }
                value = next
            }
            let text = value.text ?? Self.text(of: value)
            texts[member.name] = text
            if let time = SemanticsInstant(text) {
                comparison.times[member.name] = time
                comparison.times["value:\(member.name)"] = time
            }
        }
        let entries = answer.json.elements ?? answer.json["documents"]?.elements ?? []
        try checkNames(entries.map { $0["document"] ?? $0["found"] ?? $0 }, expected)
        if let wanted = try expected["answer"].map(fill), !comparison.contains(wanted, answer.json)
        {
            throw Difference("wanted \(Self.text(of: wanted)), got \(Self.text(of: answer.json))")
        }
        if expected["aggregateFields"] != nil { try checkAggregate(answer, expected) }
    }

    // MARK: Checks

    private static func error(of answer: Served.Answer) -> String? {
        let parts = answer.json.elements ?? [answer.json]
        let error = parts.lazy.compactMap { $0["error"] }.first
        return error.map { $0["status"]?.text ?? "HTTP \(answer.status)" }
            ?? (answer.status >= 400 ? "HTTP \(answer.status)" : nil)
    }

    private func isExpectedError(
        _ answer: Served.Answer,
        _ expected: FirestoreJSON
    ) throws -> Bool {
        let error = Self.error(of: answer)
        guard let wanted = expected["error"] else {
            guard let error else { return false }
            throw Difference("refused with \(error): \(Self.text(of: answer.json))")
        }
        let allowed = (wanted.elements ?? [wanted]).compactMap(\.text)
        guard let error, allowed.contains("ANY") || allowed.contains(error) else {
            throw Difference(
                "wanted \(allowed.joined(separator: " or ")), got \(error ?? "none"): "
                    + Self.text(of: answer.json)
            )
        }
        return true
    }

    private func checkNames(_ found: [FirestoreJSON], _ expected: FirestoreJSON) throws {
        let prefix = try fill("{documents}/")
        let names = found.compactMap { $0["name"]?.text }.map { $0.replacing(prefix, with: "") }
        if let wanted = expected["names"]?.elements?.compactMap(\.text), wanted != names {
            throw Difference("wanted \(wanted), got \(names)")
        }
        if let wanted = expected["nameSet"]?.elements?.compactMap(\.text),
            wanted.sorted() != names.sorted()
        {
            throw Difference("wanted the set \(wanted.sorted()), got \(names.sorted())")
        }
    }

    private mutating func checkDocuments(_ expected: FirestoreJSON?) async throws {
        for member in expected?.members ?? [] {
            let answer = try await send("GET", "{documents}/\(member.name)", nil)
            let isMissing = member.value == .null
            guard answer.status == (isMissing ? 404 : 200) else {
                throw Difference("\(member.name) \(isMissing ? "exists" : "does not exist")")
            }
            let wanted = try fill(member.value)
            guard isMissing || comparison.sameFields(wanted, answer.json["fields"]) else {
                throw Difference(
                    "\(member.name): wanted \(Self.text(of: wanted)), got "
                        + Self.text(of: answer.json)
                )
            }
        }
    }

    // MARK: Texts

    private func fill(_ text: String) throws -> String {
        var filled = text.replacing("{documents}", with: "\(database)/documents")
            .replacing("{database}", with: database)
        for match in filled.matches(of: /\$\{(\w+?)([+-]\d+(?:ns|us|ms|ss))?\}/).reversed() {
            guard var value = texts[String(match.1)] else {
                throw Difference("nothing is bound to \(match.1)")
            }
            if let shift = match.2 { value = SemanticsInstant(value)?.shifted(by: shift) ?? "" }
            filled.replaceSubrange(match.range, with: value)
        }
        return filled
    }

    private func fill(_ json: FirestoreJSON) throws -> FirestoreJSON {
        switch json {
        case .string(let text): return .string(try fill(text))
        case .array(let elements): return .array(try elements.map(fill))
        case .object(let members):
            if let long = try longValue(json, Set(members.map(\.name))) { return long }
            return .object(
                try members.map { FirestoreJSON.Member(try fill($0.name), try fill($0.value)) }
            )
        default: return json
        }
    }

    /// Returns a long value for its short notation in a row.
    private func longValue(_ json: FirestoreJSON, _ names: Set<String>) throws -> FirestoreJSON? {
        let times = Int(json["times"]?.wholeNumber ?? 0)
        switch names {
        case ["repeat", "times"]:
            return .string(String(repeating: json["repeat"]?.text ?? "", count: times))
        case ["repeatBytes", "times"]:
            let bytes = Base64.decode(json["repeatBytes"]?.text ?? "") ?? []
            return .string(Base64.encode(Array(repeatElement(bytes, count: times).joined())))
        case ["concat"]:
            let parts = try (json["concat"]?.elements ?? []).map { try fill($0).text ?? "" }
            return .string(parts.joined())
        case ["concatBytes"]:
            let parts = try (json["concatBytes"]?.elements ?? [])
                .flatMap { Base64.decode(try fill($0).text ?? "") ?? [] }
            return .string(Base64.encode(parts))
        case ["nest", "times", "around"]:
            let name = json["nest"]?.text ?? ""
            return try (0..<times).reduce(fill(json["around"] ?? .null)) { value, _ in
                ["mapValue": ["fields": .object([FirestoreJSON.Member(name, value)])]]
            }
        case ["each", "of"]:
            let range = (json["each"]?.elements ?? []).compactMap { $0.wholeNumber.map(Int.init) }
            return .array(
                try (range[0]..<range[1]).map { try fill(Self.counted(json["of"] ?? .null, $0)) }
            )
        default: return nil
        }
    }

    private static func counted(_ json: FirestoreJSON, _ number: Int) -> FirestoreJSON {
        switch json {
        case .string(let text): .string(text.replacing("{i}", with: "\(number)"))
        case .array(let elements): .array(elements.map { counted($0, number) })
        case .object(let members):
            .object(
                members.map {
                    FirestoreJSON.Member(
                        $0.name.replacing("{i}", with: "\(number)"),
                        counted($0.value, number)
                    )
                }
            )
        default: json
        }
    }
}
