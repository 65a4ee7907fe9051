internal import RestaurantsDomain

/// What became of what the app has noted about its use.
enum UsageView {
    static func render(_ ledger: UsageLedger) -> String {
        let sum = ledger.isBalanced ? "Nothing is lost." : "SOMETHING IS MISSING."
        return "\(ledger.noted) noted = \(ledger.delivered) delivered + \(ledger.waiting) waiting"
            + " + \(ledger.dropped) dropped. \(sum)"
    }
}
