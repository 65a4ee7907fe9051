import HTTPTypes
internal import KeelHTTP
internal import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageFirestore

struct ChangeQuery: Sendable, Hashable {
    /// The maximum number of interests per request: documents, collections, groups and queries.
    static let mostInterests = 100
    static let mostClients = 10
    static let longestLifetime = 30 * 86_400

    private(set) var cursor: ChangeCursor?
    private(set) var limit = 500
    private(set) var wait = Duration.zero
    private(set) var scope = ChangeScope.everything
    private(set) var database = "projects/keel/databases/(default)"
    private(set) var tellsContent = true
    private(set) var clients: Set<String> = []
    private(set) var reader: ChangeReader?
    var caller: CallerID?

    private static let repeatable: Set = ["document", "collection", "group", "query", "client"]

    /// Parses the query of a request's target.
    ///
    /// Unknown parameters are ignored.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`, with the name of the parameter.
    init(target: String) throws(StorageError) {
        var interests: [(name: String, value: String)] = []
        var seen: Set<String> = []
        var lifetime = 7 * 86_400
        for (name, value) in try Self.pairs(of: target) {
            guard Self.repeatable.contains(name) || seen.insert(name).inserted else {
                throw Self.flaw(name, "may be given once")
            }
            switch name {
            case "cursor":
                cursor = FirestoreDecoding.cursor(value)
                if cursor == nil { throw Self.flaw(name, "is not a valid position") }
            case "limit": limit = try Self.number(value, of: name, in: 1...1_000)
            case "wait": wait = .seconds(try Self.number(value, of: name, in: 0...60))
            case "document", "collection", "group", "query": interests.append((name, value))
            case "client":
                guard (1...1_500).contains(value.utf8.count) else {
                    throw Self.flaw(name, "must be text of up to 1,500 bytes")
                }
                clients.insert(value)
            case "reader":
                guard (1...100).contains(value.utf8.count) else {
                    throw Self.flaw(name, "must be text of up to 100 bytes")
                }
                reader = ChangeReader(Self.readerName(value))
            case "lifetime":
                lifetime = try Self.number(value, of: name, in: 0...Self.longestLifetime)
            case "database": database = try Self.database(value)
            case "content":
                guard value == "none" else { throw Self.flaw(name, "can only be “none”") }
                tellsContent = false
            default: continue
            }
        }
        guard interests.count <= Self.mostInterests else {
            throw StorageError(
                .invalidArgument,
                "a request may name up to \(Self.mostInterests) documents, collections, groups and queries"
            )
        }
        guard clients.count <= Self.mostClients else {
            throw Self.flaw("client", "may be given \(Self.mostClients) times")
        }
        reader?.lifetime = .seconds(lifetime)
        guard !interests.isEmpty else { return }
        scope = ChangeScope()
        for (name, value) in interests { scope.formUnion(try interest(name, value)) }
    }

    /// Returns the name of a client's reader in the store, which differs between users.
    private static func readerName(_ name: String) -> String {
        guard let principal = StorageContext.current.principal else { return "client/" + name }
        return "user/\(StableHash.of(principal.id.utf8))/" + name
    }

    private func interest(_ name: String, _ value: String) throws(StorageError) -> ChangeScope {
        switch name {
        case "document":
            let path = DocumentPath(value)
            if let flaw = path.flaw { throw Self.flaw(name, "is wrong: \(flaw)") }
            return .documents([path])
        case "collection", "group":
            let collection = CollectionPath(value)
            if let flaw = collection.flaw { throw Self.flaw(name, "is wrong: \(flaw)") }
            guard name == "group" else { return .collections([collection]) }
            guard collection.parent == nil else {
                throw Self.flaw(name, "must be the name of collections and not a path")
            }
            return .groups([value])
        default: return .query(try query(value))
        }
    }

    /// Parses a query in the form of `runQuery`: the name of its parent, and the structured query.
    private func query(_ text: String) throws(StorageError) -> DocumentQuery {
        let json: FirestoreJSON
        do throws(FirestoreJSONError) {
            json = try FirestoreJSON(parsing: text.utf8)
        } catch {
            throw Self.flaw("query", "must be JSON: \(error)")
        }
        do throws(StorageError) {
            let decoding = FirestoreDecoding(database: database)
            let parent = try json.text("parent").map { name throws(StorageError) in
                try decoding.parent(of: name)
            }
            let query = try decoding.query(try json.object("structuredQuery"), under: parent ?? nil)
            return try QueryValidation.checked(query)
        } catch {
            throw Self.flaw("query", "is wrong: \(error.message)")
        }
    }

    /// Sets the position from `Last-Event-ID`, which takes precedence over the parameter.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if the position is malformed.
    mutating func resume(after fields: HTTPFields) throws(StorageError) {
        guard let text = fields[Self.lastEventID], !text.isEmpty else { return }
        guard let cursor = FirestoreDecoding.cursor(text) else {
            throw Self.flaw("Last-Event-ID", "is not a valid position")
        }
        self.cursor = cursor
    }

    private static let lastEventID = HTTPField.Name.known("last-event-id")

    // MARK: Values

    private static func flaw(_ name: String, _ what: String) -> StorageError {
        StorageError(.invalidArgument, "the parameter “\(name)” \(what)")
    }

    private static func number(
        _ text: String,
        of name: String,
        in range: ClosedRange<Int>
    ) throws(StorageError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw flaw(name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func database(_ name: String) throws(StorageError) -> String {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "projects", parts[2] == "databases",
            parts.allSatisfy({ !$0.isEmpty }), name.utf8.count <= 500
        else { throw flaw("database", "has the form projects/…/databases/…") }
        return name
    }

    // MARK: Parsing

    private static func pairs(
        of target: String
    ) throws(StorageError) -> [(name: String, value: String)] {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        let query = target[mark...].dropFirst().utf8.prefix { $0 != UInt8(ascii: "#") }
        var pairs: [(String, String)] = []
        for part in query.split(separator: UInt8(ascii: "&")) {
            let sides = part.split(
                separator: UInt8(ascii: "="),
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            let text = sides.count > 1 ? sides[1] : Substring().utf8
            guard let name = RequestTarget.decoded(sides[0], plusIsSpace: true),
                let value = RequestTarget.decoded(text, plusIsSpace: true)
            else { throw StorageError(.invalidArgument, "the query is not valid UTF-8") }
            pairs.append((name, value))
        }
        return pairs
    }
}
