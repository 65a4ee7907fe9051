import KeelCore
import Testing

@Suite("Redactor")
struct RedactorTests {
    let redactor = Redactor.standard

    @Test(
        "A secret with a recognizable pattern is redacted",
        arguments: [
            ("mail to ada@example.org.", "mail to <redacted>."),
            ("ada%40example.org", "<redacted>"),
            ("<mailto:ada.lovelace+x@mail.example.co.uk>", "<mailto:<redacted>>"),
            ("card 4111 1111 1111 1111 until", "card <redacted> until"),
            ("4111-1111-1111-1111", "<redacted>"),
            ("pan4 5555555555554444,", "pan4 <redacted>,"),
            ("378282246310005", "<redacted>"),
            ("4111 1111 1111 1111 2031", "<redacted> 2031"),
            ("Bearer 4f2a9c", "Bearer <redacted>"),
            ("bearer  abcDEF", "bearer  <redacted>"),
            ("Basic dXNlcjpwYXNz", "Basic <redacted>"),
            ("see eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln now", "see <redacted> now"),
            ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "<redacted>"),
            ("ghp_0123456789abcdefghijABCDEFGHIJ0123", "<redacted>"),
            ("AKIAIOSFODNN7EXAMPLE", "<redacted>"),
            ("peer 192.168.0.17:443", "peer <redacted>:443"),
            ("[2001:db8::8a2e:370:7334]", "[<redacted>]"),
            ("fe80::1%eth0 is up", "<redacted> is up"),
            ("::ffff:10.0.0.1", "<redacted>"),
            ("2001:0db8:85a3:0000:0000:8a2e:0370:7334", "<redacted>"),
            ("DE89 3704 0044 0532 0130 00 please", "<redacted> please"),
            ("GB82WEST12345698765432", "<redacted>"),
            ("https://ada:pw@example.org/x", "https://<redacted>@example.org/x"),
            ("postgres://ada:p/w#x@db/x", "postgres://<redacted>@db/x"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest",
                "<redacted>\nrest"
            ),
            ("c=%34111111111111111&n=1", "c=<redacted>&n=1"),
            ("c=4111%201111%201111%201111.", "c=<redacted>."),
            ("c=4111%2D1111%2D1111%2D1111%26n=1", "c=<redacted>%26n=1"),
            ("%34%31%31%31%20%31%31%31%31%20%31%31%31%31%20%31%31%31%31%2F", "<redacted>%2F"),
            ("n=%34%31%31%31%20%31%31%31%31", "n=%34%31%31%31%20%31%31%31%31"),
            (
                "%41%34%31%31%31%31%31%31%31%31%31%31%31%31%31%31%31",
                "%41%34%31%31%31%31%31%31%31%31%31%31%31%31%31%31%31"
            ),
            ("%3DeyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "%3D<redacted>"),
            ("password%3Dhunter2", "password%3D<redacted>"),
            ("a%3D1%26pin%3d12%26b%3D2 and", "a%3D1%26pin%3d<redacted>%26b%3D2 and"),
            (
                "next=/login%3Ftoken%3A4f2a%26page%3D2",
                "next=/login%3Ftoken%3A<redacted>%26page%3D2"
            ),
        ]
    )
    func forms(text: String, expected: String) { #expect(redactor.redact(text) == expected) }

    @Test(
        "A value after a sensitive name is redacted",
        arguments: [
            ("password=hunter2&page=2", "password=<redacted>&page=2"),
            ("password: hunter2, page: 2", "password: <redacted>, page: 2"),
            (#"{"secret": "a\"b", "page": 2}"#, #"{"secret": "<redacted>", "page": 2}"#),
            (#"{\"secret\":\"a\\\"b\",\"page\":2}"#, #"{\"secret\":\"<redacted>\",\"page\":2}"#),
            (
                #"{\\\"secret\\\":\\\"a b\\\",\\\"page\\\":2}"#,
                #"{\\\"secret\\\":\\\"<redacted>\\\",\\\"page\\\":2}"#
            ),
            ("pwd := x1", "pwd := <redacted>"),
            ("api-key='abc def' on", "api-key='<redacted>' on"),
            (
                "Authorization: Digest username=\"a\", response=\"b\"\nHost: x",
                "Authorization: <redacted>\nHost: x"
            ),
            ("Set-Cookie: sid=1; Path=/; Secure\r\nAge: 3", "Set-Cookie: <redacted>\r\nAge: 3"),
            ("token=Bearer abc def", "token=<redacted> def"),
            ("user[password]=x&user[name]=y", "user[password]=<redacted>&user[name]=y"),
            ("x_%70assword=1", "x_%70assword=<redacted>"),
            ("tokens=[a, b]", "tokens=<redacted>"),
            ("pin=(1234)", "pin=<redacted>)"),
        ]
    )
    func names(text: String, expected: String) { #expect(redactor.redact(text) == expected) }

    @Test(
        "Text that contains no secret stays unchanged",
        arguments: [
            "version 1.2.3 of 2026-11-21T10:11:12Z at 12:34:56.789",
            "std::vector<int> in a::b, Optional::some",
            "icon@2x.png, @ada, ada@localhost, a @ b.org",
            "order 1732226852123456 and 9007199254740993",
            "0.4111111111111111",
            "4111111111111112",
            "123e4567-e89b-12d3-a456-426614174000",
            "12345678-4111-1111-1111-111111111111",
            "10.0.0.256 1.2.3.4.5 v1.2.3.4 1.2.3",
            "Basic authentication, bearer token, the secretary of the passenger",
            "token_type=bearer max_tokens=4096 author=Ada design=flat monkey=1",
            "sk-8 eyJhbGci AKIA eyes",
            "DE12 3456, GB82WEST12345698765431",
            "https://example.org/a@b?x=1",
            "https://example.org:8080/restaurants/42", "https://example.org:8080/@ada",
            "call +49 30 901820",
            "key=1 code=404 keyboard: on",
        ]
    )
    func noSecrets(text: String) { #expect(redactor.redact(text) == text) }

    @Test(
        "Sensitive names are recognized in any case and with any separators",
        arguments: [
            "authorization", "Proxy-Authorization", "X-Api-Key", "apiKey", "API_KEY", "cookie",
            "Set-Cookie", "access_token", "accessToken", "X-CSRF-Token", "password", "userPassword",
            "password_hash", "client.secret", "PASSPHRASE", "X-Amz-Signature", "sessionid", "pin",
        ]
    )
    func sensitiveNames(name: String) {
        #expect(redactor.isSensitive(name))
        #expect(redactor.redact("visible", named: name) == "<redacted>")
    }

    @Test(
        "Other names are not sensitive",
        arguments: [
            "token_type", "max_tokens", "tokenizer", "secretary", "author", "passenger", "keyboard",
            "pinned", "Accept", "Content-Type", "cookie-consent", "signature-algorithm", "", "-",
        ]
    )
    func otherNames(name: String) { #expect(!redactor.isSensitive(name)) }

    @Test("Names and patterns can be added and removed")
    func extended() {
        var redactor = Redactor.standard
        redactor.names.insert("Table Number")
        redactor.names.remove("pin")
        redactor.patterns.insert(.phoneNumbers)
        redactor.patterns.remove(.ipAddresses)
        #expect(redactor.redact("table_number=7 pin=1") == "table_number=<redacted> pin=1")
        #expect(redactor.redact("call +49 (30) 901-820!") == "call <redacted>!")
        #expect(redactor.redact("10.0.0.1") == "10.0.0.1")
        let encoded = ["%2B49%20170%201234567", "+49%20%31%37%30%201234567", "%2b49+170+1234567"]
        for number in encoded {
            #expect(redactor.redact("/call?n=\(number)&m=1") == "/call?n=<redacted>&m=1")
        }
        #expect(redactor.redact("%2B49%20170") == "%2B49%20170")
    }

    @Test("A correlating marker distinguishes equal values from different ones")
    func correlated() {
        let redactor = Redactor(marker: .correlated { secret in String(secret.count) })
        #expect(redactor.redact("a@b.org and ada@b.org") == "<redacted:7> and <redacted:9>")
    }

    @Test(
        "A URL keeps its host, its path and the names of its query items",
        arguments: [
            ("https://example.org/a/b", "https://example.org/a/b"),
            (
                "https://u:p@example.org:8080/a?x=1&y#t",
                "https://example.org:8080/a?x=redacted&redacted"
            ),
            ("http://127.0.0.1:80/ada@example.org/x", "http://127.0.0.1:80/redacted/x"),
            ("postgres://u:p/w#x?y@db:5432/main", "postgres://db:5432/main"),
            ("/a?page=2&token=abc", "/a?page=2&token=redacted"),
            ("/a?token=&x", "/a?token=&redacted"),
            ("/reset/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "/reset/redacted"),
            ("/a?ada%40example.org=1", "/a?redacted=redacted"),
            ("/ada%2Bx%40example.org", "/redacted"),
            ("", ""),
        ]
    )
    func urls(url: String, expected: String) {
        let redactor = Redactor(query: .all(except: ["page", "token"]))
        #expect(redactor.redactURL(url) == expected)
    }

    @Test("A query can be kept except for sensitive items, or dropped")
    func queryRules() {
        let url = "https://example.org/a?q=pizza&api_key=1&mail=ada%40example.org"
        let shown = Redactor(query: .sensitive).redactURL(url)
        #expect(shown == "https://example.org/a?q=pizza&api_key=redacted&mail=redacted")
        #expect(Redactor(query: .whole).redactURL(url) == "https://example.org/a")
    }

    @Test("A form loses its sensitive values")
    func forms() {
        #expect(
            redactor.redactForm("name=Ada+L&pass%77ord=x&mail=ada%40b.org&n=4111+1111+1111+1111")
                == "name=Ada+L&pass%77ord=redacted&mail=redacted&n=redacted"
        )
    }

    @Test(
        "Time grows linearly with the length, whatever the text",
        arguments: [
            "a@", "a%40", "::", "1:", "e:", "a=", "\"=", "4111 ", "1.", "eyJ.", "bearer ", "://@",
            "+1 ",
            "-----BEGIN ", "DE89 ", "\\\"", "password=", "%", "é@",
        ]
    )
    func hostileTexts(piece: String) {
        // A quadratic algorithm would take minutes.
        let text = String(repeating: piece, count: 30_000)
        #expect(redactor.redact(text).utf8.count > 0)
    }
}
