import HTTPTypes
import KeelStorage
import KeelStorageFirestore

/// A method of the gRPC service `google.firestore.v1.Firestore`.
enum GRPCMethod: String, CaseIterable, Sendable {
    case batchGetDocuments = "BatchGetDocuments"
    case batchWrite = "BatchWrite"
    case beginTransaction = "BeginTransaction"
    case commit = "Commit"
    case createDocument = "CreateDocument"
    case deleteDocument = "DeleteDocument"
    case executePipeline = "ExecutePipeline"
    case getDocument = "GetDocument"
    case listCollectionIDs = "ListCollectionIds"
    case listDocuments = "ListDocuments"
    case listen = "Listen"
    case partitionQuery = "PartitionQuery"
    case rollback = "Rollback"
    case runAggregationQuery = "RunAggregationQuery"
    case runQuery = "RunQuery"
    case updateDocument = "UpdateDocument"
    case write = "Write"

    static let service = "google.firestore.v1.Firestore"

    init?(path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, parts[1] == Self.service else { return nil }
        self.init(rawValue: String(parts[2]))
    }

    /// The type of the request's messages.
    var requestType: String { rawValue + "Request" }

    /// The type of the reply's messages; nil if they have no fields.
    var responseType: String? {
        switch self {
        case .createDocument, .getDocument, .updateDocument: "Document"
        case .deleteDocument, .rollback: nil
        default: rawValue + "Response"
        }
    }

    /// The call, if requests and replies are streams.
    var stream: FirestoreRoute.Call? {
        switch self {
        case .listen: .listen
        case .write: .write
        default: nil
        }
    }

    /// Whether a reply has several messages, which are a list over REST.
    var hasList: Bool {
        switch self {
        case .batchGetDocuments, .runAggregationQuery, .runQuery: true
        default: false
        }
    }
}

/// A request over gRPC, in the terms of the REST protocol.
struct GRPCRequest {
    let database: String
    let route: FirestoreRoute
    let method: HTTPRequest.Method
    var items = RequestItems([])
    var body: FirestoreJSON

    /// Creates the request of a message, whose fields include the parts of REST's paths and queries.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if a name in the message is malformed.
    init(_ called: GRPCMethod, _ message: FirestoreJSON) throws(StorageError) {
        body = message
        switch called {
        case .getDocument, .deleteDocument:
            let name = try ResourceName(try message.text("name"), in: "name")
            database = name.database
            route = .document(try name.document)
            method = called == .getDocument ? .get : .delete
            items = RequestItems(try Self.items(message))
            body = [:]
        case .updateDocument:
            let document = try message.object("document") ?? [:]
            let name = try ResourceName(try document.text("name"), in: "document.name")
            database = name.database
            route = .document(try name.document)
            method = .patch
            items = RequestItems(try Self.items(message))
            body = document
        case .createDocument, .listDocuments:
            let parent = try ResourceName(try message.text("parent"), in: "parent")
            guard let collection = try message.text("collectionId"), !collection.isEmpty else {
                throw FirestoreDecoding.flaw("“collection_id” is missing")
            }
            database = parent.database
            route = .collection(try parent.parent + [collection])
            method = called == .createDocument ? .post : .get
            items = RequestItems(try Self.items(message))
            body = called == .createDocument ? try message.object("document") ?? [:] : [:]
        case .listCollectionIDs, .partitionQuery, .runAggregationQuery, .runQuery:
            let parent = try ResourceName(try message.text("parent"), in: "parent")
            database = parent.database
            let call: FirestoreRoute.Call =
                switch called {
                case .listCollectionIDs: .listCollectionIds
                case .partitionQuery: .partitionQuery
                case .runAggregationQuery: .runAggregationQuery
                default: .runQuery
                }
            route = .call(call, on: try parent.parent)
            method = .post
        case .batchGetDocuments, .batchWrite, .beginTransaction, .commit, .executePipeline,
            .listen, .rollback, .write:
            database = try ResourceName(try message.text("database"), in: "database").database
            let call: FirestoreRoute.Call =
                switch called {
                case .batchGetDocuments: .batchGet
                case .batchWrite: .batchWrite
                case .beginTransaction: .beginTransaction
                case .commit: .commit
                case .executePipeline: .executePipeline
                case .listen: .listen
                case .rollback: .rollback
                default: .write
                }
            route = .call(call, on: [])
            method = .post
        }
    }

    /// Returns the fields of a message that are items of the query over REST.
    private static func items(
        _ message: FirestoreJSON
    ) throws(StorageError) -> [(name: String, value: String)] {
        var items: [(name: String, value: String)] = []
        for name in ["orderBy", "pageToken", "readTime", "transaction", "documentId"] {
            if let text = try message.text(name) { items.append((name, text)) }
        }
        if let size = try message.wholeNumber("pageSize") { items.append(("pageSize", "\(size)")) }
        if let flag = try message.flag("showMissing") { items.append(("showMissing", "\(flag)")) }
        for name in ["mask", "updateMask"] {
            guard let mask = try message.object(name) else { continue }
            let paths = try mask.list("fieldPaths")
            // A mask without fields differs from no mask.
            if paths.isEmpty { items.append(("\(name).fieldPaths", "")) }
            for path in paths { items.append(("\(name).fieldPaths", path.text ?? "")) }
        }
        if let condition = try message.object("currentDocument") {
            if let exists = try condition.flag("exists") {
                items.append(("currentDocument.exists", "\(exists)"))
            }
            if let time = try condition.text("updateTime") {
                items.append(("currentDocument.updateTime", time))
            }
        }
        return items
    }
}

private struct ResourceName {
    let database: String
    private let field: String
    private let segments: [String]

    init(_ text: String?, in field: String) throws(StorageError) {
        self.field = field
        let parts = (text ?? "").split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0] == "projects", parts[2] == "databases",
            !parts[1].isEmpty, !parts[3].isEmpty, parts.count == 4 || parts[4] == "documents"
        else {
            throw FirestoreDecoding.flaw(
                "“\(field)” should begin with projects/{project}/databases/{database}"
            )
        }
        database = parts.prefix(4).joined(separator: "/")
        segments = parts.dropFirst(5).map(String.init)
    }

    var document: [String] {
        get throws(StorageError) {
            guard !segments.isEmpty, segments.count % 2 == 0 else {
                throw FirestoreDecoding.flaw("“\(field)” is not the name of a document")
            }
            return segments
        }
    }

    /// The segments of a document's path; none for the root.
    var parent: [String] {
        get throws(StorageError) {
            guard segments.count % 2 == 0 else {
                throw FirestoreDecoding.flaw("“\(field)” is neither a document nor the root")
            }
            return segments
        }
    }
}
