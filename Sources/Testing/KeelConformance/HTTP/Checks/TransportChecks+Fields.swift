import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

extension HTTPTransportCheck {
    private static func name(_ text: String) -> HTTPField.Name {
        HTTPField.Name(text) ?? .accept
    }

    package static let fields: [Self] = [
        Self(.fields, "sends fields in order, including repeated ones") { subject in
            var fields = HTTPFields()
            for (field, value) in [("x-b", "1"), ("x-a", "2"), ("x-b", "3"), ("x-c", "4")] {
                fields.append(HTTPField(name: name(field), value: value))
            }
            _ = try await subject.exchange(subject.call("/", .get, fields))
            let request = try await subject.request()
            // Values joined by a comma, with or without whitespace, are equivalent (RFC 9110 section 5.2).
            let values = request.values(of: "x-b").joined(separator: ",")
            #expect(values.filter { $0 != " " } == "1,3")
            #expect(request["x-a"] == "2")
            #expect(request["x-c"] == "4")
        },
        Self(.fields, "sends all cookies in one field") { subject in
            var fields = HTTPFields()
            fields[.cookie] = "a=1; b=2"
            _ = try await subject.exchange(subject.call("/", .get, fields))
            let request = try await subject.request()
            let values = request.values(of: "cookie")
            #expect(values.joined(separator: "; ") == "a=1; b=2")
            // HTTP/2 allows several (RFC 9113 section 8.2.3).
            #expect(values.count == 1 || request.version == "HTTP/2")
        },
        Self(.fields, "sends an empty field and a field with spaces and commas") { subject in
            let fields: HTTPFields = [name("x-empty"): "", name("x-list"): "a b, \"c, d\";q=1"]
            _ = try await subject.exchange(subject.call("/", .get, fields))
            let request = try await subject.request()
            #expect(request["x-empty"] == "")
            #expect(request["x-list"] == "a b, \"c, d\";q=1")
        },
        Self(.fields, "sends one host field") { subject in
            _ = try await subject.exchange(subject.call())
            #expect(try await subject.request().values(of: "host") == [subject.origin.authority])
        },
        Self(
            .fields,
            "returns fields in order, including repeated ones",
            traits: .exactFields
        ) { subject in
            var headers = HTTPFields()
            for (field, value) in [("set-cookie", "a=1"), ("x-a", "2"), ("set-cookie", "b=2")] {
                headers.append(HTTPField(name: name(field), value: value))
            }
            let reply = try await subject.answer(.text("x", headers: headers))
            #expect(reply.head.headerFields[values: .setCookie] == ["a=1", "b=2"])
            let order = reply.head.headerFields.map(\.name.canonicalName).filter {
                $0 == "set-cookie" || $0 == "x-a"
            }
            #expect(order == ["set-cookie", "x-a", "set-cookie"])
        },
        Self(.fields, "returns an empty field") { subject in
            let reply = try await subject.answer(.text("x", headers: [name("x-empty"): ""]))
            #expect(reply.head.headerFields[name("x-empty")] == "")
        },
        Self(.fields, "returns a field of 4,000 bytes in full") { subject in
            let long = String(repeating: "long ", count: 799) + "field"
            let reply = try await subject.answer(.text("x", headers: [name("x-long"): long]))
            #expect(reply.head.headerFields[name("x-long")] == long)
        },
        Self(.fields, "returns the trailers after the body", needs: .trailers) { subject in
            subject.origin.enqueue(.text("body").trailing([.eTag: "\"late\""]))
            let reply = try await subject.transport.send(subject.call())
            #expect(reply.head.headerFields[.eTag] == nil)
            #expect(try await reply.body.collect(upTo: 100).count == 4)
            #expect(reply.body.trailers?[.eTag] == "\"late\"")
        },
        Self(.fields, "returns no trailers if there are none", needs: .trailers) { subject in
            subject.origin.enqueue(.text("body").framed(.chunked))
            let reply = try await subject.transport.send(subject.call())
            _ = try await reply.body.collect(upTo: 100)
            #expect((reply.body.trailers ?? [:]).isEmpty)
        },
    ]
}
