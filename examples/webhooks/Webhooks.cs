// Check the signature of a webhook. It needs no package, and works in .NET Framework 4.6 and later, and in .NET.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

public static class Webhooks
{
    private static readonly Regex Secret =
        new Regex(@"\Awhsec_((?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\z");

    /// <summary>Return whether a webhook is genuine. `body` has the bytes as they came, before they are parsed.</summary>
    public static bool IsValid(string secret, IReadOnlyDictionary<string, string> headers, byte[] body)
    {
        headers.TryGetValue("webhook-id", out var id);
        headers.TryGetValue("webhook-timestamp", out var timestamp);
        headers.TryGetValue("webhook-signature", out var signatures);
        var key = Secret.Match(secret ?? "");
        if (!key.Success || string.IsNullOrEmpty(id) || !Regex.IsMatch(timestamp ?? "", @"\A[0-9]{1,12}\z")) return false;
        if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - long.Parse(timestamp)) > 300) return false;
        using (var hmac = new HMACSHA256(Convert.FromBase64String(key.Groups[1].Value)))
        {
            var content = Encoding.UTF8.GetBytes($"{id}.{timestamp}.").Concat(body).ToArray();
            var expected = Encoding.UTF8.GetBytes("v1," + Convert.ToBase64String(hmac.ComputeHash(content)));
            return (signatures ?? "").Split(' ').Any(signature => AreEqual(expected, Encoding.UTF8.GetBytes(signature)));
        }
    }

    // It reads all bytes, so its time does not tell where they differ. .NET Framework has no FixedTimeEquals.
    private static bool AreEqual(byte[] left, byte[] right)
    {
        var difference = left.Length ^ right.Length;
        for (var i = 0; i < left.Length && i < right.Length; i++) difference |= left[i] ^ right[i];
        return difference == 0;
    }
}
