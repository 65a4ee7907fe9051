import Foundation
import KeelStorageFirestore
import KeelTestSupport
import Testing

@Suite(
    "Messages in protobuf, and those of google-cloud-firestore",
    .enabled(
        if: ProtobufPeer.interpreter != nil,
        "SKIPPED: KEEL_PYTHON names no Python with google-cloud-firestore; see Scripts/setup.sh"
    )
)
struct ProtobufPeerTests {
    @Test("random messages of each type are converted like Google's library converts them")
    func bothDirections() async throws {
        let made = try await ProtobufPeer.run("make", [])
        #expect(made.count > 1_000)
        var own: [String] = []
        var types: Set<Substring> = []
        for line in made {
            let parts = line.split(separator: "\t")
            try #require(parts.count == 3)
            let bytes = try #require(Data(base64Encoded: parts[1] == "-" ? "" : String(parts[1])))
            let expected = try FirestoreJSON(parsing: Array(parts[2].utf8)).sorted
            let type = String(parts[0])
            let json = try FirestoreProtobuf.json(Array(bytes)[...], of: type)
            #expect(json.sorted == expected, "\(type)")
            let again = try FirestoreProtobuf.bytes(json, of: type)
            own.append("\(type)\t\(Data(again).base64EncodedString())\t\(parts[2])")
            types.insert(parts[0])
        }
        #expect(types.count > 80)
        let different = try await ProtobufPeer.run("compare", own)
        #expect(different == [])
    }
}

extension FirestoreJSON {
    /// The value with its members in order, because maps have none.
    fileprivate var sorted: FirestoreJSON {
        switch self {
        case .array(let elements): .array(elements.map(\.sorted))
        case .object(let members):
            .object(
                members.map { Member($0.name, $0.value.sorted) }
                    .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            )
        default: self
        }
    }
}

/// Google's own library for the messages, called through the Python interpreter in `KEEL_PYTHON`.
private enum ProtobufPeer {
    static let interpreter = ProcessInfo.processInfo.environment["KEEL_PYTHON"]

    static func run(_ mode: String, _ lines: [String]) async throws -> [Substring] {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = folder.appendingPathComponent("input")
        let output = folder.appendingPathComponent("output")
        try Data(lines.joined(separator: "\n").utf8).write(to: input)
        let run = try await ProgramRun(
            URL(filePath: try #require(interpreter)),
            ["-c", script, mode, input.path, output.path]
        )
        try #require(run.exitCode == 0, "\(run.errors)")
        return try String(contentsOf: output, encoding: .utf8).split(separator: "\n")
    }

    private static let script = """
        import base64, importlib, json, pkgutil, random, sys
        from google.cloud.firestore_v1 import types
        from google.protobuf import json_format, message_factory
        from google.protobuf.descriptor import FieldDescriptor as F
        from google.rpc import error_details_pb2, status_pb2

        random.seed(7)
        known = {}

        def learn(described):
            if not described.GetOptions().map_entry:
                known[described.full_name.removeprefix("google.firestore.v1.")] = described
            for nested in described.nested_types:
                learn(nested)

        for module in pkgutil.iter_modules(types.__path__):
            module = importlib.import_module(f"{types.__name__}.{module.name}")
            for name in module.__protobuf__.manifest:
                if hasattr(getattr(module, name), "pb"):
                    learn(getattr(module, name).pb().DESCRIPTOR)
        learn(status_pb2.Status.DESCRIPTOR)
        learn(error_details_pb2.ErrorInfo.DESCRIPTOR)

        def text():
            return "".join(random.choice("aé漢😀\\u0000\\n\\" 9_") for _ in range(random.randrange(9)))

        def scalar(field):
            kind = field.type
            if kind == F.TYPE_BOOL: return random.random() < 0.5
            if kind == F.TYPE_BYTES: return random.randbytes(random.randrange(9))
            if kind == F.TYPE_STRING: return text()
            if kind == F.TYPE_INT32: return random.choice([0, 1, -1, 2**31 - 1, -2**31])
            if kind == F.TYPE_INT64: return random.choice([0, 1, -1, 2**63 - 1, -2**63])
            if kind == F.TYPE_ENUM: return random.choice(field.enum_type.values).number
            if kind == F.TYPE_DOUBLE:
                return random.choice([0.0, 1.5, -2e300, 5e-324, float("inf"), float("nan"), 1e17])
            raise AssertionError(field.full_name)

        def fill(message, levels):
            name = message.DESCRIPTOR.full_name
            if name == "google.protobuf.Timestamp":
                message.seconds = random.choice([0, 1, -1, -62135596800, 253402300799, 1800000000])
                message.nanos = random.choice([0, 5000, 120000, 500000000, 999999000])
                return
            if name == "google.protobuf.Duration":
                sign = random.choice([1, -1])
                message.seconds = sign * random.choice([0, 3, 100000])
                message.nanos = sign * random.choice([0, 1, 5000, 500000000])
                return
            if name == "google.protobuf.Struct":
                message.update({text(): random.choice([text(), True, None, 0.5, ["a", {"b": 1.5}]])})
                return
            if name == "google.protobuf.Any":
                info = error_details_pb2.ErrorInfo(reason=text(), metadata={"a": text()})
                message.Pack(info)
                return
            for field in message.DESCRIPTOR.fields:
                if random.random() < (0.6 if levels > 3 else 0.2) or levels == 0: continue
                target = field.message_type
                if target and target.GetOptions().map_entry:
                    entries = getattr(message, field.name)
                    for _ in range(random.randrange(3)):
                        if target.fields_by_name["value"].message_type:
                            fill(entries[text()], levels - 1)
                        else:
                            entries[text()] = text()
                elif field.is_repeated:
                    values = getattr(message, field.name)
                    for _ in range(random.randrange(3)):
                        if target: fill(values.add(), levels - 1)
                        else: values.append(scalar(field))
                elif target:
                    part = getattr(message, field.name)
                    part.SetInParent()
                    fill(part, levels - 1)
                else:
                    setattr(message, field.name, scalar(field))

        def print_json(message):
            return json.dumps(json_format.MessageToDict(message), ensure_ascii=False)

        mode, source, target = sys.argv[1:]
        with open(source) as source, open(target, "w") as target:
            if mode == "make":
                for name, described in sorted(known.items()):
                    for round in range(25):
                        message = message_factory.GetMessageClass(described)()
                        fill(message, 1 + round % 8)
                        encoded = base64.b64encode(message.SerializeToString()).decode()
                        print(name, encoded or "-", print_json(message), sep="\\t", file=target)
            else:
                for line in source:
                    name, encoded, wanted = line.rstrip("\\n").split("\\t")
                    message = message_factory.GetMessageClass(known[name])()
                    message.ParseFromString(base64.b64decode(encoded))
                    found = json_format.MessageToDict(message)
                    if repr(found) != repr(json.loads(wanted)) and found != json.loads(wanted):
                        print(name, found, wanted, sep=" | ", file=target)
        """
}
