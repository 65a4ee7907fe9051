import KeelTerminal
import Testing

@Suite("Colors of terminals")
struct TerminalColorsTests {
    @Test(
        "NO_COLOR with a value and TERM=dumb forbid colors",
        arguments: [
            ([:], true), (["NO_COLOR": ""], true), (["NO_COLOR": "0"], false),
            (["TERM": "xterm"], true), (["TERM": "dumb"], false),
        ]
    )
    func variables(environment: [String: String], areAllowed: Bool) {
        #expect(TerminalColors.areAllowed(by: environment) == areAllowed)
    }
}
