import KeelStorage
import KeelStorageFirestore

/// The allowed member names of a request, from googleapis, google/firestore/v1.
///
/// Unknown names are rejected, as by Google's service: ignoring a misspelled mask would change the meaning of a
/// request. Values are checked when they are decoded.
struct MessageShape {
    fileprivate enum Part {
        /// Content that is not checked here.
        case any
        case message(String)
        case list(String)
    }

    private let name: String

    static func request(of call: FirestoreRoute.Call) -> Self { Self(name: call.rawValue) }

    static let document = Self(name: "Document")

    func check(_ json: FirestoreJSON) throws(StorageError) {
        try Self.check(json, as: name, at: "")
    }

    private static func check(
        _ json: FirestoreJSON,
        as name: String,
        at place: String
    ) throws(StorageError) {
        // A value other than an object is rejected when it is decoded.
        guard let members = json.members, let shape = shapes[name] else { return }
        for member in members {
            let known = RequestItems.camelCase(member.name)
            guard let part = shape[known] else {
                guard known != FirestoreEncoding.extensionName else { continue }
                let at = place.isEmpty ? "" : " at \"\(place)\""
                throw FirestoreDecoding.flaw(
                    "Unknown name \"\(member.name.prefix(100))\"\(at): Cannot find field."
                )
            }
            let inner = place.isEmpty ? known : "\(place).\(known)"
            switch part {
            case .any: continue
            case .message(let name): try check(member.value, as: name, at: inner)
            case .list(let name):
                for element in member.value.elements ?? [] {
                    try check(element, as: name, at: inner)
                }
            }
        }
    }

    // MARK: Messages

    private static let shapes: [String: [String: Part]] = {
        var shapes = messages
        let parts: [(String, [String: Part])] = [
            ("batchGet", reading + ["documents": .any, "mask": .message("Mask")]),
            ("runQuery", reading + ["structuredQuery": .message("Query")] + explained),
            (
                "runAggregationQuery",
                reading + ["structuredAggregationQuery": .message("AggregationQuery")] + explained
            ),
        ]
        for (name, shape) in parts { shapes[name] = shape }
        return shapes
    }()

    private static let reading: [String: Part] = [
        "database": .any, "parent": .any, "transaction": .any, "readTime": .any,
        "newTransaction": .message("TransactionOptions"), "requestOptions": .any,
    ]

    private static let explained: [String: Part] = ["explainOptions": .message("ExplainOptions")]

    private static let messages: [String: [String: Part]] = [
        "batchWrite": [
            "database": .any, "writes": .list("Write"), "labels": .any, "requestOptions": .any,
        ],
        "beginTransaction": [
            "database": .any, "options": .message("TransactionOptions"), "requestOptions": .any,
        ],
        "commit": [
            "database": .any, "writes": .list("Write"), "transaction": .any,
            "requestOptions": .any,
        ],
        "listCollectionIds": [
            "parent": .any, "pageSize": .any, "pageToken": .any, "readTime": .any,
            "requestOptions": .any,
        ],
        "partitionQuery": [
            "parent": .any, "structuredQuery": .message("Query"), "partitionCount": .any,
            "pageToken": .any, "pageSize": .any, "readTime": .any, "requestOptions": .any,
        ],
        "rollback": ["database": .any, "transaction": .any, "requestOptions": .any],
        "TransactionOptions": [
            "readOnly": .message("ReadOnly"), "readWrite": .message("ReadWrite"),
        ],
        "ReadOnly": ["readTime": .any],
        "ReadWrite": ["retryTransaction": .any, "concurrencyMode": .any],
        "ExplainOptions": ["analyze": .any],
        "Document": ["name": .any, "fields": .any, "createTime": .any, "updateTime": .any],
        "Mask": ["fieldPaths": .any],
        "Precondition": ["exists": .any, "updateTime": .any],
        "Write": [
            "update": .message("Document"), "delete": .any, "verify": .any,
            "transform": .message("DocumentTransform"), "updateMask": .message("Mask"),
            "updateTransforms": .list("FieldTransform"),
            "currentDocument": .message("Precondition"),
        ],
        "DocumentTransform": ["document": .any, "fieldTransforms": .list("FieldTransform")],
        "FieldTransform": [
            "fieldPath": .any, "setToServerValue": .any, "increment": .any, "maximum": .any,
            "minimum": .any, "appendMissingElements": .message("ArrayValue"),
            "removeAllFromArray": .message("ArrayValue"),
        ],
        "ArrayValue": ["values": .any],
        "AggregationQuery": [
            "structuredQuery": .message("Query"), "aggregations": .list("Aggregation"),
        ],
        "Aggregation": [
            "count": .message("Count"), "sum": .message("OfField"), "avg": .message("OfField"),
            "alias": .any,
        ],
        "Count": ["upTo": .any],
        "OfField": ["field": .message("Field")],
        "Field": ["fieldPath": .any],
        "Query": [
            "select": .message("Projection"), "from": .list("CollectionSelector"),
            "where": .message("Filter"), "orderBy": .list("Order"), "startAt": .message("Cursor"),
            "endAt": .message("Cursor"), "offset": .any, "limit": .any, "findNearest": .any,
        ],
        "Projection": ["fields": .list("Field")],
        "CollectionSelector": ["collectionId": .any, "allDescendants": .any],
        "Order": ["field": .message("Field"), "direction": .any],
        "Cursor": ["values": .any, "before": .any],
        "Filter": [
            "compositeFilter": .message("CompositeFilter"),
            "fieldFilter": .message("FieldFilter"), "unaryFilter": .message("UnaryFilter"),
        ],
        "CompositeFilter": ["op": .any, "filters": .list("Filter")],
        "FieldFilter": ["field": .message("Field"), "op": .any, "value": .any],
        "UnaryFilter": ["op": .any, "field": .message("Field")],
    ]
}

extension [String: MessageShape.Part] {
    fileprivate static func + (left: Self, right: Self) -> Self {
        left.merging(right) { $1 }
    }
}
