<?php
// Arrays, strings, sorting, JSON and regular expressions.
$rounds = (int) $argv[1];
[$random, $checksum] = [1, 0];
for ($round = 0; $round < $rounds; $round++) {
    $people = [];
    for ($i = 0; $i < 8000; $i++) {
        $random = ($random * 1664525 + 1013904223) & 0xFFFFFFFF;
        $people[] = ['id' => $i, 'name' => 'n' . ($random % 5000), 'score' => $random / 4294967296];
    }
    usort($people, fn($a, $b) => $a['score'] <=> $b['score'] ?: $a['id'] - $b['id']);
    $text = json_encode($people);
    $checksum = ($checksum + count(json_decode($text, true)) + strlen(preg_replace('/n(\d)\d*/', '$1', $text))) & 0xFFFFFFFF;
}
echo "$rounds rounds, checksum $checksum\n";
